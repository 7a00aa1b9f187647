"""Fields in the formats of others: AMReX plotfiles, VTK image data, CSV, numpy archives."""
from tessera.export.arrays import write_csv, write_npz
from tessera.export.image_data import write_image_data
from tessera.export.plotfile import write_plotfile

__all__ = ["write_csv", "write_image_data", "write_npz", "write_plotfile"]
