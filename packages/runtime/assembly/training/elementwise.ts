/** Operations on each word by itself. Areas are rounded up to whole vectors: the arena keeps them apart. */
import { endOf } from './descent';
import { exponential, narrowed } from './softmax';

/** Values below this become zero between layers: products of two larger ones are no subnormal numbers, which some processors handle slowly. */
const LEAST: f32 = 1e-18;

/** Subnormal numbers would tell by the time of a training what the data and a model chosen for it have in common. NaN stays. */
export function flush(at: usize, words: i32): void {
  const end = at + endOf(words);
  const least = f32x4.splat(LEAST);
  for (; at < end; at += 16) {
    const values = v128.load(at);
    v128.store(at, v128.andnot(values, f32x4.lt(f32x4.abs(values), least)));
  }
}

export function relu(at: usize, words: i32): void {
  const end = at + endOf(words);
  const zero = f32x4.splat(0);
  // max(0, NaN) is NaN in wasm: a run that diverges is seen, not hidden.
  for (; at < end; at += 16) v128.store(at, f32x4.max(v128.load(at), zero));
}

/** Keeps the gradient where the output is positive. */
export function reluGradient(gradient: usize, output: usize, words: i32): void {
  const end = endOf(words);
  const zero = f32x4.splat(0);
  for (let n: usize = 0; n < end; n += 16) {
    v128.store(gradient + n, v128.and(v128.load(gradient + n), f32x4.gt(v128.load(output + n), zero)));
  }
}

/** at *= factors: dropout, forwards and backwards. */
export function multiplyElements(at: usize, factors: usize, words: i32): void {
  const end = endOf(words);
  for (let n: usize = 0; n < end; n += 16) {
    v128.store(at + n, f32x4.mul(v128.load(at + n), v128.load(factors + n)));
  }
}

export function sigmoid(at: usize, words: i32): void {
  for (let n: usize = 0; n < (<usize>words) << 2; n += 4) {
    const x = <f64>load<f32>(at + n);
    const small = exponential(-abs(x));
    store<f32>(at + n, narrowed((x >= 0 ? 1 : small) / (1 + small)));
  }
}

export function sigmoidGradient(gradient: usize, output: usize, words: i32): void {
  for (let n: usize = 0; n < (<usize>words) << 2; n += 4) {
    const y = <f64>load<f32>(output + n);
    store<f32>(gradient + n, narrowed(<f64>load<f32>(gradient + n) * y * (1 - y)));
  }
}
