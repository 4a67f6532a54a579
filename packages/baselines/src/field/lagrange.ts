/** Lagrange's coefficients: the value at a point of the polynomial that takes given values at the nodes. */
import type { Field } from './field.ts';

export interface Interpolation {
  /** lambda_j(at) with f(at) = sum_j lambda_j(at) f(x_j), for every f of degree below the number of nodes. */
  coefficientsAt(at: number): Uint32Array;
}

/** Computes the part that depends only on the nodes once: 1 / prod_{l != j} (x_j - x_l). */
export function interpolation(field: Field, nodes: readonly number[]): Interpolation {
  const weights = nodes.map((node, j) => {
    let product = 1;
    for (const [l, other] of nodes.entries()) {
      if (l !== j) product = field.multiply(product, field.subtract(node, other));
    }
    if (product === 0) throw new RangeError(`node ${node} is there twice`);
    return field.invert(product);
  });
  return {
    coefficientsAt(at) {
      // prod_{l != j} (at - x_l) from the products before and after j: nothing is divided, and `at` may be a node.
      const coefficients = new Uint32Array(nodes.length);
      let before = 1;
      for (const [j, node] of nodes.entries()) {
        coefficients[j] = field.multiply(before, weights[j] as number);
        before = field.multiply(before, field.subtract(at, node));
      }
      let after = 1;
      for (let j = nodes.length - 1; j >= 0; j--) {
        coefficients[j] = field.multiply(coefficients[j] as number, after);
        after = field.multiply(after, field.subtract(at, nodes[j] as number));
      }
      return coefficients;
    },
  };
}
