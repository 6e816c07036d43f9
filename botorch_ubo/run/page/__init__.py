"""A page for a run, one HTML file; it needs plotly, ``pip install 'botorch-ubo[report]'``."""

from botorch_ubo.run.page.write import write_page

__all__ = ["write_page"]
