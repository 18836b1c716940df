"""Drop-ins for the metrics of other libraries: change the import, keep the code.

    from calipers.compat.torchmetrics import MulticlassJaccardIndex  # was: torchmetrics.classification
    from calipers.compat.mmseg import IoUMetric                      # was: mmseg.evaluation
    from calipers.compat.evaluate import load                        # was: evaluate
    from calipers.compat.monai import DiceMetric, MeanIoU            # was: monai.metrics

Names, arguments, exceptions and types are the libraries' own, and so is what they do to tensors before
they count. Counts are exact whole numbers; each result is the exact value of the library's formula on these
counts, rounded once. `differences` lists each case in which a result differs on purpose.

>>> from calipers import compat
>>> [found.when for found in compat.differences() if found.library == "evaluate"]
['images of different sizes in a pair']
"""

from __future__ import annotations

from calipers.compat._differences import Difference, differences

__all__ = ["Difference", "differences"]
