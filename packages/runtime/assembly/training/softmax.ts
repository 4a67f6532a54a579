/** Softmax and its cross-entropy, row by row in double precision, with exp and log that are the same everywhere. */

const LOG2_E: f64 = 1.4426950408889634;
const LN2_HIGH: f64 = 0.6931471803691238; // the upper bits of ln 2: k * LN2_HIGH is exact
const LN2_LOW: f64 = 1.9082149292705877e-10;

/** As single precision, with zero for the values that `flush` would make zero: narrowing them may be slow. */
export function narrowed(x: f64): f32 {
  return abs(x) < 1e-18 ? 0 : <f32>x;
}

/** e^x for x <= 0 by the Taylor polynomial of degree 13 on |r| <= ln 2 / 2; error below 2^-52 relative. */
export function exponential(x: f64): f64 {
  if (x != x) return x;
  if (x < -700) return 0;
  const k = nearest(x * LOG2_E);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let sum: f64 = 1;
  for (let n = 13; n > 0; n--) sum = 1 + (sum * r) / <f64>n;
  return sum * reinterpret<f64>((<i64>k + 1023) << 52);
}

/** ln x for x >= 1: 2 atanh((m - 1) / (m + 1)) for the mantissa m in [sqrt(1/2), sqrt 2), plus k ln 2. */
function logarithm(x: f64): f64 {
  const bits = reinterpret<i64>(x);
  let k = <f64>((bits >> 52) - 1023);
  let m = reinterpret<f64>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    k += 1;
  }
  const t = (m - 1) / (m + 1);
  const t2 = t * t;
  let sum: f64 = 0;
  for (let n = 21; n > 0; n -= 2) sum = sum * t2 + 1 / <f64>n;
  return k * LN2_HIGH + (2 * t * sum + k * LN2_LOW);
}

function largest(row: usize, classes: i32): f64 {
  let most: f64 = -Infinity;
  for (let c = 0; c < classes; c++) most = max(most, <f64>load<f32>(row + ((<usize>c) << 2)));
  return most;
}

export function softmax(at: usize, rows: i32, classes: i32): void {
  for (let r = 0; r < rows; r++) {
    softmaxRow(at, at, classes, 1);
    at += (<usize>classes) << 2;
  }
}

/** to = softmax(from) * scale; returns ln of the sum of exponentials. */
function softmaxRow(to: usize, from: usize, classes: i32, scale: f64): f64 {
  const most = largest(from, classes);
  let sum: f64 = 0;
  for (let c = 0; c < classes; c++) sum += exponential(<f64>load<f32>(from + ((<usize>c) << 2)) - most);
  for (let c = 0; c < classes; c++) {
    const share = exponential(<f64>load<f32>(from + ((<usize>c) << 2)) - most) / sum;
    store<f32>(to + ((<usize>c) << 2), narrowed(share * scale));
  }
  return most + logarithm(sum);
}

/** gradient = y (gradient - sum of y gradient), in place. */
export function softmaxGradient(gradient: usize, output: usize, rows: i32, classes: i32): void {
  const row = (<usize>classes) << 2;
  for (let r = 0; r < rows; r++) {
    let dot: f64 = 0;
    for (let n: usize = 0; n < row; n += 4) dot += <f64>load<f32>(output + n) * <f64>load<f32>(gradient + n);
    for (let n: usize = 0; n < row; n += 4) {
      store<f32>(gradient + n, narrowed(<f64>load<f32>(output + n) * (<f64>load<f32>(gradient + n) - dot)));
    }
    gradient += row;
    output += row;
  }
}

/** Returns the sum of losses; gradient = (softmax - one-hot) * scale. */
export function softmaxCrossEntropy(
  gradient: usize,
  logits: usize,
  labels: usize,
  rows: i32,
  classes: i32,
  scale: f64,
): f64 {
  let loss: f64 = 0;
  for (let r = 0; r < rows; r++) {
    const label = (<usize>load<i32>(labels + ((<usize>r) << 2))) << 2;
    loss += softmaxRow(gradient, logits, classes, scale) - <f64>load<f32>(logits + label);
    store<f32>(gradient + label, narrowed(<f64>load<f32>(gradient + label) - scale));
    gradient += (<usize>classes) << 2;
    logits += (<usize>classes) << 2;
  }
  return loss;
}
