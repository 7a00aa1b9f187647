"""VTK image data (.vti): the fields on one grid, which ParaView, VisIt and every VTK program read."""
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from tessera.errors import OutputError
from tessera.export.plotfile import component_names


def write_image_data(file, path, names=None, level=None):
    """Writes a covering grid of `level` (default: the finest), with the values as raw doubles after the text."""
    path, names = Path(path), names or file.names
    grids = {shown: file.covering_grid(name, level) for name, shown in component_names(file, names)}
    first = next(iter(grids.values()))
    cells = first.values.shape
    spacing = (first.upper - first.lower) / cells
    extent = " ".join(f"0 {n}" for n in cells)
    arrays, blocks, offset = [], [], 0
    for name, grid in grids.items():
        block = np.ascontiguousarray(grid.values.transpose(2, 1, 0), dtype="<f8").tobytes()
        arrays.append(f'        <DataArray type="Float64" Name={quoteattr(name)} format="appended" offset="{offset}"/>')
        blocks += [len(block).to_bytes(8, "little"), block]
        offset += 8 + len(block)
    text = f"""<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <ImageData WholeExtent="{extent}" Origin="{_reals(first.lower)}" Spacing="{_reals(spacing)}">
    <FieldData>
      <DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{file.time!r}</DataArray>
    </FieldData>
    <Piece Extent="{extent}">
      <CellData>
{chr(10).join(arrays)}
      </CellData>
    </Piece>
  </ImageData>
  <AppendedData encoding="raw">
   _"""
    try:
        path.write_bytes(text.encode("utf-8") + b"".join(blocks) + b"\n  </AppendedData>\n</VTKFile>\n")
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror}") from problem
    return path


def _reals(values):
    return " ".join(repr(float(v)) for v in values)
