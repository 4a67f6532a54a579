/** Max pooling of one image: ties go to the first place, places outside the image never win. */

/** places[y][x][c] is the word of the input that won. */
export function maxPool(
  to: usize,
  places: usize,
  from: usize,
  height: i32,
  width: i32,
  channels: i32,
  toHeight: i32,
  toWidth: i32,
  size: i32,
  stride: i32,
  pad: i32,
): void {
  for (let y = 0; y < toHeight; y++) {
    const top = max(0, y * stride - pad);
    const bottom = min(height, y * stride - pad + size);
    for (let x = 0; x < toWidth; x++) {
      const left = max(0, x * stride - pad);
      const right = min(width, x * stride - pad + size);
      const whole = channels & ~3;
      for (let c = 0; c < whole; c += 4) pool<v128>(to, places, from, width, channels, c, top, bottom, left, right);
      for (let c = whole; c < channels; c++) pool<f32>(to, places, from, width, channels, c, top, bottom, left, right);
      to += (<usize>channels) << 2;
      places += (<usize>channels) << 2;
    }
  }
}

/** Four channels at a time where T is a vector, else one. */
function pool<T>(
  to: usize,
  places: usize,
  from: usize,
  width: i32,
  channels: i32,
  c: i32,
  top: i32,
  bottom: i32,
  left: i32,
  right: i32,
): void {
  if (isVector<T>()) {
    const lanes = v128(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0);
    let best = f32x4.splat(-Infinity);
    let place = i32x4.splat(0);
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const at = (y * width + x) * channels + c;
        const value = v128.load(from + ((<usize>at) << 2));
        const larger = f32x4.gt(value, best);
        best = v128.bitselect(value, best, larger);
        place = v128.bitselect(i32x4.add(i32x4.splat(at), lanes), place, larger);
      }
    }
    v128.store(to + ((<usize>c) << 2), best);
    v128.store(places + ((<usize>c) << 2), place);
  } else {
    let best: f32 = -Infinity;
    let place = 0;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const at = (y * width + x) * channels + c;
        const value = load<f32>(from + ((<usize>at) << 2));
        if (value > best) {
          best = value;
          place = at;
        }
      }
    }
    store<f32>(to + ((<usize>c) << 2), best);
    store<i32>(places + ((<usize>c) << 2), place);
  }
}

/** Gives each output's gradient to the place that won; `to` is cleared first. */
export function maxPoolGradient(to: usize, places: usize, gradient: usize, inputs: i32, outputs: i32): void {
  memory.fill(to, 0, (<usize>inputs) << 2);
  for (let n: usize = 0; n < (<usize>outputs) << 2; n += 4) {
    const target = to + ((<usize>load<i32>(places + n)) << 2);
    store<f32>(target, load<f32>(target) + load<f32>(gradient + n));
  }
}
