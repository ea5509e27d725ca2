"""SCALE-Sim's side of `systolic.py`; runs in an environment of its own, without this package.

Reads products from its input, one line of JSON each, and answers with a line: the seconds of the
simulation alone, without start and configuration, and the index of its last cycle. No trace files.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CONFIG = """[general]
run_name = run
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
[architecture_presets]
ArrayHeight = {rows}
ArrayWidth = {cols}
IfmapSramSzkB = 4096
FilterSramSzkB = 4096
OfmapSramSzkB = 4096
IfmapOffset = 0
FilterOffset = 10000000
OfmapOffset = 20000000
Dataflow = {dataflow}
ReadRequestBuffer = 60
WriteRequestBuffer = 60
[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = 10
IfmapSRAMBankNum = 10
IfmapSRAMBankPort = 2
FilterCustomLayout = False
FilterSRAMBankBandwidth = 10
FilterSRAMBankNum = 10
FilterSRAMBankPort = 2
[sparsity]
SparsitySupport = False
"""


def run(case: dict[str, Any], folder: Path) -> tuple[float, int]:
    """Seconds and last cycle of one product."""
    from scalesim.scale_sim import scalesim

    files = {
        "config": CONFIG.format(**case),
        "topology": "Layer,M,N,K,\nproduct,{m},{n},{k},\n".format(**case),
        "layout": "Layer,\n",
    }
    paths = {}
    for name, text in files.items():
        paths[name] = str(folder / name)
        Path(paths[name]).write_text(text, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        one = scalesim(save_disk_space=True, verbose=False, input_type_gemm=True, **paths)
        start = time.perf_counter()
        one.run_scale(top_path=str(folder))
        seconds = time.perf_counter() - start
    (layer,) = one.runner.single_layer_sim_object_list
    return seconds, int(layer.get_compute_report_items()[1])


def main() -> int:
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(run(json.loads(line), Path(folder))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
