/** The step of stochastic gradient descent, and the sums around it. */

export function endOf(words: i32): usize {
  return ((<usize>words + 3) & ~3) << 2;
}

/** v = momentum v + (g scale + decay w); w -= rate v. Without momentum the velocity is not touched. */
export function descend(
  weights: usize,
  gradient: usize,
  velocity: usize,
  words: i32,
  rate: f32,
  momentum: f32,
  decay: f32,
  scale: f32,
): void {
  const end = endOf(words);
  const rates = f32x4.splat(rate);
  const momenta = f32x4.splat(momentum);
  const decays = f32x4.splat(decay);
  const scales = f32x4.splat(scale);
  for (let n: usize = 0; n < end; n += 16) {
    const w = v128.load(weights + n);
    let v = f32x4.add(f32x4.mul(v128.load(gradient + n), scales), f32x4.mul(w, decays));
    if (momentum != 0) {
      v = f32x4.add(f32x4.mul(v128.load(velocity + n), momenta), v);
      v128.store(velocity + n, v);
    }
    v128.store(weights + n, f32x4.sub(w, f32x4.mul(v, rates)));
  }
}

/** Sum of squares in double precision, in two lanes. */
export function squaredNorm(at: usize, words: i32): f64 {
  const whole = at + ((<usize>words & ~1) << 2);
  let sum = f64x2.splat(0);
  for (let n = at; n < whole; n += 8) {
    const pair = f64x2.promote_low_f32x4(v128.load64_zero(n));
    sum = f64x2.add(sum, f64x2.mul(pair, pair));
  }
  const last = (words & 1) != 0 ? <f64>load<f32>(whole) : 0;
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1) + last * last;
}

/** to[n] += sum over rows of from[r][n]: the gradient of a bias. */
export function sumRows(to: usize, from: usize, rows: i32, columns: i32): void {
  const row = (<usize>columns) << 2;
  const whole = columns & ~3;
  for (let n = 0; n < whole; n += 4) {
    let at = from + ((<usize>n) << 2);
    let sum = f32x4.splat(0);
    for (let r = 0; r < rows; r++, at += row) sum = f32x4.add(sum, v128.load(at));
    v128.store(to + ((<usize>n) << 2), f32x4.add(v128.load(to + ((<usize>n) << 2)), sum));
  }
  for (let n = whole; n < columns; n++) {
    let at = from + ((<usize>n) << 2);
    let sum: f32 = 0;
    for (let r = 0; r < rows; r++, at += row) sum += load<f32>(at);
    store<f32>(to + ((<usize>n) << 2), load<f32>(to + ((<usize>n) << 2)) + sum);
  }
}
