/** A tensor with its axes in another order, as other formats want their weights. */

/** Axis n of the result is axis `order[n]` of the input. */
export function permute(values: Float32Array, shape: readonly number[], order: readonly number[]): Float32Array {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  const sizes = order.map((axis) => shape[axis] as number);
  const steps = order.map((axis) => strides[axis] as number);
  const place = sizes.map(() => 0);
  let from = 0;
  return Float32Array.from({ length: values.length }, () => {
    const value = values[from] as number;
    for (let axis = sizes.length - 1; axis >= 0; axis--) {
      place[axis] = (place[axis] as number) + 1;
      from += steps[axis] as number;
      if ((place[axis] as number) < (sizes[axis] as number)) break;
      from -= (sizes[axis] as number) * (steps[axis] as number);
      place[axis] = 0;
    }
    return value;
  });
}
