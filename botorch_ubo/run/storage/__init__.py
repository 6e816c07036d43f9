"""The file that a run is kept in: SQLite, events appended, shared by whoever opens it."""

from botorch_ubo.run.storage.errors import CheckpointError
from botorch_ubo.run.storage.export import export_lines, import_lines
from botorch_ubo.run.storage.run_file import RunFile

__all__ = ["CheckpointError", "RunFile", "export_lines", "import_lines"]
