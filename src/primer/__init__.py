"""An executable textbook on computer architecture for deep learning.

The top level holds the physics: pure models, one concept per module. Importing `primer` itself
imports none of them, so that it costs nothing; write ``from primer import roofline``.

>>> from primer import hardware, roofline, workloads
>>> chip = hardware.example("100t_1t")
>>> roofline.place(chip, workloads.VectorAdd(1_000_000), compute="fp32").bound
'memory'
"""

__version__ = "0.1.0"
