#!/usr/bin/env python3
"""Draws the house: docs/figures/house.svg (modules and rooms as boxes, includes as arrows) and docs/figures/house.md
(the same as a table), from every #include of the product.

A room is a folder with C++ files; folders named detail belong to the room above them. Modules stand in layers, lowest at
the bottom. Thick arrows lead from a module to those that it includes; thin arrows lead from room to room within a module.

usage: draw_house.py [--check] [ROOT]     exit 0: written, or with --check up to date, 1: stale

A picture is stale when rooms or includes between them have changed; numbers of files and lines may lag behind.
"""
import re
import sys
import textwrap
from html import escape
from pathlib import Path

LAYERS = [["core"], ["grid"], ["taskgraph", "datawarehouse"], ["scheduler", "components"], ["tools"]]
MODULES = [module for layer in LAYERS for module in layer]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

WIDTH, MARGIN, GAP = 1240, 20, 46
ROOM_WIDTH, ROOM_HEIGHT, ROOM_GAP = 174, 42, 26
HEADER, PAD = 30, 22
COLOURS = {"core": "#e8eef7", "grid": "#e6f4ea", "taskgraph": "#fdf1dc", "datawarehouse": "#f7e8f0",
           "scheduler": "#ece8f7", "components": "#e3f3f5", "tools": "#f1f1ec"}


def room_of(name):
    """'scheduler/device/lane/lane_work.hpp' -> 'scheduler/device/lane'."""
    return "/".join(part for part in name.split("/")[:-1] if part != "detail")


def read(root):
    """Rooms with their files and lines, and how many includes lead from room to room."""
    rooms, includes = {}, {}
    for module in MODULES:
        for path in sorted((root / module).rglob("*.?pp")):
            name = path.relative_to(root).as_posix()
            text, room = path.read_text(errors="replace"), room_of(name)
            files, lines = rooms.get(room, (0, 0))
            rooms[room] = (files + 1, lines + text.count("\n"))
            for target in INCLUDE.findall(text):
                other = room_of(target)
                if other != room and target.split("/")[0] in MODULES:
                    includes[room, other] = includes.get((room, other), 0) + 1
    return rooms, {pair: count for pair, count in includes.items() if pair[1] in rooms}


def module_of(room):
    return room.split("/")[0]


def within(includes):
    """The includes from room to room of one module. Those of a module's interface are left out: every room has them."""
    return {(a, b): count for (a, b), count in includes.items() if module_of(a) == module_of(b) and "/" in b}


def depths(mine, includes):
    """The row of each room of a module: one above the highest room that it includes. Rooms that include one another
    share a row, and so does what stands between them."""
    depth = {room: 0 for room in mine}
    for _ in mine:
        for (above, below) in includes:
            if above in depth and below in depth and (below, above) not in includes:
                depth[above] = min(max(depth[above], depth[below] + 1), len(mine) - 1)
    used = sorted(set(depth.values()))
    return {room: used.index(value) for room, value in depth.items()}


class Layout:
    """Boxes of modules and rooms, (x, y, width, height), y downwards."""

    def __init__(self, rooms, includes):
        self.modules, self.rooms = {}, {}
        inner = within(includes)
        shapes = {module: self.rows([r for r in rooms if module_of(r) == module], inner) for module in MODULES}
        y = MARGIN
        for layer in reversed(LAYERS):
            free = WIDTH - 2 * MARGIN - GAP * (len(layer) - 1)
            wanted = [max([len(row) for row in shapes[module]], default=1) for module in layer]
            x, tallest = MARGIN, 0
            for module, most in zip(layer, wanted):
                width = free * most / sum(wanted)
                height = self.place(shapes[module], x, y, width)
                self.modules[module] = (x, y, width, height)
                x, tallest = x + width + GAP, max(tallest, height)
            for module in layer:
                mx, my, width, _ = self.modules[module]
                self.modules[module] = (mx, my, width, tallest)
            y += tallest + GAP
        self.height = y - GAP + MARGIN

    @staticmethod
    def rows(mine, includes):
        """Rooms of a module in rows of at most six, the highest first."""
        depth, rows = depths(mine, includes), []
        for level in sorted(set(depth.values()), reverse=True):
            row = sorted(room for room in mine if depth[room] == level)
            rows += [row[n:n + 6] for n in range(0, len(row), 6)]
        return rows

    def place(self, rows, x, y, width):
        top = y + HEADER
        for row in rows:
            room_width = min(ROOM_WIDTH, (width - 2 * PAD - 12 * (len(row) - 1)) / len(row))
            step = (width - 2 * PAD - room_width * len(row)) / (len(row) + 1)
            for n, room in enumerate(row):
                self.rooms[room] = (x + PAD + step * (n + 1) + room_width * n, top, room_width, ROOM_HEIGHT)
            top += ROOM_HEIGHT + ROOM_GAP
        return top - y - ROOM_GAP + PAD


def arrow(start, end, kind):
    """From the bottom of one box to the top of another, or in an arc below where they stand in one row."""
    (ax, ay, aw, ah), (bx, by, bw, _) = start, end
    if by > ay + 1:
        x1, y1, x2, y2 = ax + aw / 2, ay + ah, bx + bw / 2, by
    elif by < ay - 1:
        x1, y1, x2, y2 = ax + aw / 2, ay, bx + bw / 2, by + end[3]
    else:
        x1, x2, y1 = ax + aw / 2, bx + bw / 2, ay + ah
        low = y1 + ROOM_GAP * 0.9
        return f'<path class="{kind}" d="M{x1:.0f} {y1:.0f} C{x1:.0f} {low:.0f} {x2:.0f} {low:.0f} {x2:.0f} {y1:.0f}"/>'
    bend = (y2 - y1) / 2
    return f'<path class="{kind}" d="M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"/>'


def module_arrows(layout, includes):
    """One arrow from each module to each module of the next lower layer that it includes. Lower ones are in the table."""
    layer_of = {module: n for n, layer in enumerate(LAYERS) for module in layer}
    pairs = {(module_of(a), module_of(b)) for a, b in includes if module_of(a) != module_of(b)}
    for above, below in sorted(pairs):
        if layer_of[above] == layer_of[below] + 1:
            yield arrow(layout.modules[above], layout.modules[below], "between")


def draw(rooms, includes):
    layout = Layout(rooms, includes)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {layout.height:.0f}" width="{WIDTH}" '
           f'height="{layout.height:.0f}" font-family="sans-serif">',
           '<style>.between{stroke:#333;stroke-width:2.5;fill:none;marker-end:url(#big)}'
           '.within{stroke:#555;stroke-width:0.9;stroke-opacity:0.55;fill:none;marker-end:url(#small)}'
           '.both{stroke:#c22;stroke-width:1.2;stroke-opacity:0.8;fill:none;marker-end:url(#small)}</style>',
           '<defs><marker id="big" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto">'
           '<path d="M0 0 L8 4 L0 8 z" fill="#333"/></marker><marker id="small" viewBox="0 0 8 8" refX="7" refY="4" '
           'markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>',
           f'<rect width="{WIDTH}" height="{layout.height:.0f}" fill="white"/>']
    for module, (x, y, width, height) in layout.modules.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="8" '
                   f'fill="{COLOURS[module]}" stroke="#666"/>')
        out.append(f'<text x="{x + PAD:.0f}" y="{y + 20:.0f}" font-size="15" font-weight="bold">{module}/</text>')
    out += module_arrows(layout, includes)
    inner = within(includes)
    for above, below in sorted(inner):
        kind = "both" if (below, above) in inner else "within"
        out.append(arrow(layout.rooms[above], layout.rooms[below], kind))
    for room, (x, y, width, height) in layout.rooms.items():
        files, lines = rooms[room]
        title = room.split("/", 1)[1] if "/" in room else "(interface)"
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="4" fill="white" stroke="#888"/>')
        out.append(f'<text x="{x + width / 2:.0f}" y="{y + 18:.0f}" font-size="12" text-anchor="middle">{escape(title)}</text>')
        out.append(f'<text x="{x + width / 2:.0f}" y="{y + 33:.0f}" font-size="10" fill="#555" text-anchor="middle">'
                   f'{files} files, {lines / 1000:.1f}k lines</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def table(rooms, includes):
    text = ["# The house in a picture", "",
            "Modules stand in layers and include only what is below them. Thick arrows lead to the next layer, thin arrows from",
            "room to room within a module; red: two rooms include each other. Every room may include the interface of its",
            "module, so these arrows are left out. `tools/checks/draw_house.py` draws it from the includes of the product.", "",
            "![modules, rooms and includes](house.svg)", "",
            "| room | files | lines | includes, of other modules |", "|---|---|---|---|"]
    within_module = []
    for room in sorted(rooms, key=lambda name: (MODULES.index(module_of(name)), name)):
        files, lines = rooms[room]
        own = sorted(b for a, b in includes if a == room and module_of(b) == module_of(room))
        others = sorted({module_of(b) for a, b in includes if a == room and module_of(b) != module_of(room)})
        text.append(f"| `{room}/` | {files} | {round(lines, -2):,} | {', '.join(others) or '-'} |")
        if own:
            inner = ", ".join(b.split("/", 1)[1] if "/" in b else "(interface)" for b in own)
            within_module.append(listed(f"* `{room}/`: {inner}"))
    inner = within(includes)
    both = sorted((a, b) for a, b in inner if a < b and (b, a) in inner)
    text += ["", "Includes from room to room of one module:", "", *within_module, "",
             listed("Rooms that include each other: " + (", ".join(f"`{a}` and `{b}`" for a, b in both) or "none") + ".")]
    return "\n".join(text) + "\n"


def listed(text):
    return textwrap.fill(text, 118, subsequent_indent="  " if text.startswith("*") else "", break_on_hyphens=False)


def structure(text):
    """A page without the numbers of files and lines in it."""
    return re.sub(r"\d+ files, [\d.]+k lines|(?<=\| )\d+ \| [\d,]+ \|", "", text)


def main():
    names = [name for name in sys.argv[1:] if name != "--check"]
    root = Path(names[0] if names else Path(__file__).resolve().parents[2]).resolve()
    rooms, includes = read(root)
    stale = []
    for name, text in {"house.svg": draw(rooms, includes), "house.md": table(rooms, includes)}.items():
        page = root / "docs" / "figures" / name
        if "--check" not in sys.argv[1:]:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
        elif not page.exists() or structure(page.read_text()) != structure(text):
            stale.append(f"docs/figures/{name} is stale: run tools/checks/draw_house.py")
    print("\n".join(stale) or f"house: {len(rooms)} rooms, the picture is up to date")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
