"""Field files made by hand: three levels whose cell averages are known, as the program lays them out."""
import h5py
import numpy as np

ORIGIN = np.array([0.0, -1.0, 2.0])
SPACING = np.array([0.125, 0.25, 0.5])
RATIOS = [1, 2, 4]  # of each level to the one below
# Inclusive boxes of cells on their own level: ilo, ihi, jlo, jhi, klo, khi.
BOXES = [
    [(0, 3, 0, 7, 0, 3), (4, 7, 0, 7, 0, 3)],
    [(4, 9, 4, 11, 2, 5), (10, 11, 4, 11, 2, 5)],
    [(24, 31, 24, 31, 12, 15)],
]
DOMAIN = (0, 7, 0, 7, 0, 3)
CELLS = 8 * 8 * 4
COVERED = (4 * 4 * 2, 2 * 2 * 1)  # of level 0 by level 1 (in cells of level 0), of level 1 by level 2 (of level 1)
LOWER, UPPER = ORIGIN, ORIGIN + SPACING * np.array([8, 8, 4])


def linear(x, y, z):
    """Exactly its own average over any box around (x, y, z)."""
    return x + 10.0 * y + 100.0 * z


def spacing(level):
    return SPACING / np.prod(RATIOS[:level + 1])


def centres(level, box):
    """Cell centres of a box, each indexed [z, y, x]."""
    axes = [ORIGIN[d] + spacing(level)[d] * (np.arange(box[2 * d], box[2 * d + 1] + 1) + 0.5) for d in range(3)]
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    return x, y, z


def corners(level, box):
    axes = [ORIGIN[d] + spacing(level)[d] * np.arange(box[2 * d], box[2 * d + 1] + 2) for d in range(3)]
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    return x, y, z


def write(path, time=0.5, step=7, function=linear, own=True):
    """Writes density (cells), velocity (cells, 3 components: x, y, z of the centre) and potential (nodes)."""
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        root = file.create_group("VTKHDF")
        root.attrs.create("Version", np.array([1, 0], dtype="i4"))
        root.attrs.create("Type", np.bytes_("OverlappingAMR"), dtype="S14")
        root.attrs.create("GridDescription", np.bytes_("XYZ"), dtype="S3")
        root.attrs.create("Origin", ORIGIN)
        for level, boxes in enumerate(BOXES):
            group = root.create_group(f"Level{level}")
            group.attrs.create("Spacing", spacing(level))
            group.create_dataset("AMRBox", data=np.array(boxes, dtype="i4"))
            cells, nodes = group.create_group("CellData"), group.create_group("PointData")
            at = [centres(level, box) for box in boxes]
            cells["density"] = np.concatenate([function(*c).ravel() + 0.0 * time for c in at])
            cells["velocity"] = np.concatenate([np.stack([a.ravel() for a in c], axis=1) for c in at])
            nodes["potential"] = np.concatenate([function(*corners(level, box)).ravel() for box in boxes])
        if own:
            write_own(file, time, step)


def write_own(file, time, step):
    group = file.create_group("tessera")
    group.attrs.update({"time": time, "step": np.int64(step), "dt": 0.125, "code_version": np.bytes_("Tessera 0.1.0"),
                        "run_id": np.bytes_("abc"), "periodic": np.array([1, 0, 0], dtype="i4")})
    for number, (name, centering, components, unit) in enumerate(
            [("density", 0, 1, "kg/m^3"), ("velocity", 0, 3, "m/s"), ("potential", 1, 1, "")]):
        about = group.create_group(f"fields/{name}")
        about.attrs.update({"order": np.int32(number), "components": np.int32(components),
                            "centering": np.int32(centering), "unit": np.bytes_(unit)})
    for level, boxes in enumerate(BOXES):
        about = group.create_group(f"levels/{level}")
        factor = int(np.prod(RATIOS[:level + 1]))
        about.attrs["domain"] = np.array([v * factor if n % 2 == 0 else (v + 1) * factor - 1
                                          for n, v in enumerate(DOMAIN)], dtype="i4")
        about["patch_id"] = np.arange(len(boxes))
