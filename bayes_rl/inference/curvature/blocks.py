"""Blocks of a Gaussian posterior: curvatures of some weights, by their eigenvalues.

In the basis of the eigenvectors of the curvature G the precision scale * G + delta * I is
diagonal, whatever scale and delta. A block maps weights there and back:

    full: G = Q diag(eigenvalues) Q'
    Kronecker: G = A x B,  A = U diag(a) U',  B = V diag(b) V',  eigenvalues a b'
    diagonal: G = diag(eigenvalues)

Source: Martens and Grosse, 2015, Optimizing Neural Networks with Kronecker-factored
Approximate Curvature; Daxberger et al., 2021, Laplace Redux, section 3.
"""

import math

import numpy as np


class Diagonal:
    """Weights that are independent of each other; `curvature` [P] is the diagonal of G."""

    structure = "diagonal"

    def __init__(self, shapes, curvature):
        self.shapes = {name: tuple(shape) for name, shape in shapes.items()}
        self.eigenvalues = np.maximum(np.asarray(curvature, np.float64), 0.0)
        self.arrays = {"eigenvalues": self.eigenvalues}

    @classmethod
    def from_arrays(cls, shapes, arrays):
        """The block that has these `arrays`."""
        block = cls.__new__(cls)
        block.shapes = {name: tuple(shape) for name, shape in shapes.items()}
        block.arrays, block.eigenvalues = arrays, arrays["eigenvalues"]
        return block

    def to_basis(self, weights):
        """Dict of name -> [S, *shape], as coordinates [S, *shape of eigenvalues]."""
        return self._joined(weights)

    def from_basis(self, coordinates):
        """The inverse of `to_basis`."""
        return self._parted(coordinates)

    def as_coordinates(self, weights):
        """Numbers of any basis, such as noise, in the shape of coordinates."""
        return self._joined(weights).reshape([-1, *self.eigenvalues.shape])

    def _joined(self, weights):
        """[S, P]."""
        parts = [np.asarray(weights[name], np.float64) for name in self.shapes]
        return np.concatenate([x.reshape([len(x), -1]) for x in parts], axis=1)

    def _parted(self, flat):
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        parts = np.split(flat.reshape([len(flat), -1]), ends[:-1], axis=1)
        return {
            name: x.reshape([-1, *shape])
            for (name, shape), x in zip(self.shapes.items(), parts, strict=True)
        }


class Full(Diagonal):
    """Weights of which each may depend on each; `curvature` [P, P] is G."""

    structure = "full"

    def __init__(self, shapes, curvature):
        values, vectors = np.linalg.eigh(np.asarray(curvature, np.float64))
        super().__init__(shapes, values)
        self.arrays["vectors"] = vectors

    def to_basis(self, weights):
        return self._joined(weights) @ self.arrays["vectors"]

    def from_basis(self, coordinates):
        return self._parted(coordinates @ self.arrays["vectors"].T)


class Kronecker(Diagonal):
    """Kernel, and bias, of a layer: rows and columns of a matrix [inputs (+ 1), units].

    `inputs` is A, [inputs (+ 1), inputs (+ 1)], and `outputs` is B, [units, units].
    """

    structure = "kronecker"

    def __init__(self, shapes, inputs, outputs):
        (a, left), (b, right) = (
            np.linalg.eigh(np.asarray(x, np.float64)) for x in (inputs, outputs)
        )
        super().__init__(shapes, np.outer(np.maximum(a, 0.0), np.maximum(b, 0.0)))
        self.arrays |= {"left": left, "right": right}

    def to_basis(self, weights):
        left, right = self.arrays["left"], self.arrays["right"]
        return left.T @ self.as_coordinates(weights) @ right

    def from_basis(self, coordinates):
        return self._parted(self.arrays["left"] @ coordinates @ self.arrays["right"].T)


STRUCTURES = {kind.structure: kind for kind in (Full, Kronecker, Diagonal)}
