"""Which axes of which weights are split over the devices of a mesh.

A rule is a pattern and, for each axis of the weights whose names have it in them, an axis
of the mesh, or None where it is not split. The first rule that fits counts; a weight that
none fits is whole on every device. The parameters of a posterior are split as its weight,
for their names start with its name: `encoder_0_self/query/kernel/mean`.
"""

BATCH, MODEL = "batch", "model"

# Of two products in a row the first is split by columns, which are heads or hidden units,
# and the second by rows, so that devices add up once for both (Shoeybi et al., 2019,
# Megatron-LM, section 3).
TRANSFORMER = (
    (r"(query|key|value|expand)/kernel\b", (None, MODEL)),
    (r"(query|key|value|expand)/bias\b", (MODEL,)),
    (r"(attention_output|contract)/kernel\b", (MODEL, None)),
)
