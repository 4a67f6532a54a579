/** Reads an ONNX file only by its wire format and runs its graph: no code of the writer is used. */

type Field = { readonly field: number; readonly number: number; readonly bytes: Uint8Array };

function fieldsOf(bytes: Uint8Array): Field[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, wire] = [tag >> 3, tag & 7];
    if (wire === 0) fields.push({ field, number: varint(), bytes: new Uint8Array() });
    else if (wire === 5) {
      fields.push({ field, number: view.getFloat32(at, true), bytes: new Uint8Array() });
      at += 4;
    } else if (wire === 2) {
      const length = varint();
      fields.push({ field, number: 0, bytes: bytes.subarray(at, at + length) });
      at += length;
    } else throw new Error(`wire type ${wire}`);
  }
  if (at !== bytes.length) throw new Error('cut off');
  return fields;
}

const all = (fields: readonly Field[], field: number): Field[] => fields.filter((one) => one.field === field);
const text = (fields: readonly Field[], field: number): string =>
  new TextDecoder().decode(all(fields, field)[0]?.bytes ?? new Uint8Array());

interface Value {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** The output for these examples, and the shape that the file says one example has. */
export function runOnnx(file: Uint8Array, examples: number, inputs: ArrayLike<number>) {
  const graph = fieldsOf(all(fieldsOf(file), 7)[0]?.bytes ?? new Uint8Array());
  const known = new Map<string, Value>();
  for (const { bytes } of all(graph, 5)) {
    const tensor = fieldsOf(bytes);
    const raw = new DataView(Uint8Array.from(all(tensor, 9)[0]?.bytes ?? []).buffer);
    const shape = all(tensor, 1).map(({ number }) => number);
    const isFloat = all(tensor, 2)[0]?.number === 1;
    const values = Array.from({ length: product(shape) }, (_, n) =>
      isFloat ? raw.getFloat32(4 * n, true) : Number(raw.getBigInt64(8 * n, true)),
    );
    known.set(text(tensor, 8), { shape, values });
  }
  const type = fieldsOf(all(fieldsOf(all(graph, 11)[0]?.bytes ?? new Uint8Array()), 2)[0]?.bytes ?? new Uint8Array());
  const sizes = fieldsOf(all(fieldsOf(all(type, 1)[0]?.bytes ?? new Uint8Array()), 2)[0]?.bytes ?? new Uint8Array());
  const inputShape = all(sizes, 1)
    .slice(1)
    .map(({ bytes }) => fieldsOf(bytes)[0]?.number ?? 0);
  known.set('input', { shape: [examples, ...inputShape], values: Array.from(inputs) });
  for (const { bytes } of all(graph, 1)) {
    const node = fieldsOf(bytes);
    const attributes = new Map(
      all(node, 5).map(({ bytes: set }) => {
        const fields = fieldsOf(set);
        const numbers = fields.filter(({ field }) => [2, 3, 8].includes(field)).map(({ number }) => number);
        return [text(fields, 1), numbers] as const;
      }),
    );
    const taken = all(node, 1).map(({ bytes: name }) => known.get(new TextDecoder().decode(name)) as Value);
    const operator = OPERATORS[text(node, 4)];
    if (operator === undefined) throw new Error(`operator ${text(node, 4)}`);
    known.set(
      text(node, 2),
      operator(taken, (name) => attributes.get(name) ?? []),
    );
  }
  return { inputShape, output: known.get('output') as Value };
}

type Operator = (taken: readonly Value[], set: (name: string) => readonly number[]) => Value;

const each =
  (compute: (x: number) => number): Operator =>
  ([x]) => ({ shape: x?.shape ?? [], values: (x?.values ?? []).map(compute) });

/** Scale or shift by channel of an image. */
const byChannel =
  (compute: (x: number, y: number) => number): Operator =>
  ([x, y]) => {
    const { shape, values } = x as Value;
    const [, channels = 1, height = 1, width = 1] = shape;
    const other = (y as Value).values;
    return { shape, values: values.map((v, n) => compute(v, other[Math.floor(n / (height * width)) % channels] ?? 0)) };
  };

const OPERATORS: Readonly<Record<string, Operator>> = {
  Relu: each((x) => Math.max(0, x)),
  Sigmoid: each((x) => 1 / (1 + Math.exp(-x))),
  Mul: byChannel((x, y) => x * y),
  Add: byChannel((x, y) => x + y),
  Flatten: ([x]) => ({ ...(x as Value), shape: [x?.shape[0] ?? 0, product(x?.shape.slice(1) ?? [])] }),
  Reshape: ([x, wanted]) => {
    const { shape, values } = x as Value;
    const sizes = (wanted as Value).values.map((size, n) => (size === 0 ? (shape[n] as number) : size));
    const known = product(sizes.filter((size) => size > 0));
    return { shape: sizes.map((size) => (size < 0 ? values.length / known : size)), values };
  },
  Transpose: ([x], set) => {
    const { shape, values } = x as Value;
    const order = set('perm');
    const to = order.map((axis) => shape[axis] as number);
    const turned = values.map((_, n) => {
      const place = to.map((size, axis) => Math.floor(n / product(to.slice(axis + 1))) % size);
      return order.reduce((at, axis, k) => at + (place[k] as number) * product(shape.slice(axis + 1)), 0);
    });
    return { shape: to, values: turned.map((at) => values[at] as number) };
  },
  Softmax: ([x]) => {
    const { shape, values } = x as Value;
    const [rows = 1, words = 1] = shape;
    const out = Array.from({ length: rows }, (_, row) => {
      const powers = values.slice(row * words, (row + 1) * words).map(Math.exp);
      const sum = powers.reduce((a, b) => a + b);
      return powers.map((power) => power / sum);
    });
    return { shape, values: out.flat() };
  },
  Gemm: ([x, weight, bias], set) => {
    if (set('transB')[0] !== 1) throw new Error('transB');
    const [outputs = 0, words = 0] = weight?.shape ?? [];
    const rows = x?.shape[0] ?? 0;
    const at = (row: number, o: number): number => {
      let sum = bias?.values[o] ?? 0;
      for (let i = 0; i < words; i++) sum += (x?.values[row * words + i] ?? 0) * (weight?.values[o * words + i] ?? 0);
      return sum;
    };
    const values = Array.from({ length: rows * outputs }, (_, n) => at(Math.floor(n / outputs), n % outputs));
    return { shape: [rows, outputs], values };
  },
  InstanceNormalization: ([x, scale, shift], set) => {
    const { shape, values } = x as Value;
    const [, groups = 1, words = 1] = shape;
    const out = values.map((value, n) => {
      const from = Math.floor(n / words) * words;
      const own = values.slice(from, from + words);
      const mean = own.reduce((a, b) => a + b) / words;
      const variance = own.reduce((a, b) => a + (b - mean) ** 2, 0) / words;
      const group = Math.floor(n / words) % groups;
      const normal = (value - mean) / Math.sqrt(variance + (set('epsilon')[0] ?? 0));
      return normal * (scale?.values[group] ?? 0) + (shift?.values[group] ?? 0);
    });
    return { shape, values: out };
  },
  Conv: ([x, weight, bias], set) => {
    const [outputs = 1, channels = 1, window = 1] = weight?.shape ?? [];
    return windows(x as Value, outputs, set, (read, o) => {
      let sum = bias?.values[o] ?? 0;
      for (let c = 0; c < channels; c++)
        for (let y = 0; y < window; y++)
          for (let k = 0; k < window; k++)
            sum += (read(c, y, k) ?? 0) * (weight?.values[((o * channels + c) * window + y) * window + k] ?? 0);
      return sum;
    });
  },
  MaxPool: ([x], set) => {
    const [window = 1] = set('kernel_shape');
    return windows(x as Value, x?.shape[1] ?? 1, set, (read, c) => {
      const seen = Array.from({ length: window * window }, (_, n) => read(c, Math.floor(n / window), n % window));
      return Math.max(...seen.filter((value) => value !== undefined));
    });
  },
};

/** `compute` of every place of the output; `read` gives nothing outside of the image. */
function windows(
  { shape, values }: Value,
  outputs: number,
  set: (name: string) => readonly number[],
  compute: (read: (c: number, y: number, x: number) => number | undefined, output: number) => number,
): Value {
  const [rows = 1, channels = 1, height = 1, width = 1] = shape;
  const [[window = 1], [stride = 1], [padding = 0]] = [set('kernel_shape'), set('strides'), set('pads')];
  const along = (size: number): number => Math.floor((size + 2 * padding - window) / stride) + 1;
  const to = [rows, outputs, along(height), along(width)] as const;
  const out = Array.from({ length: product(to) }, (_, n) => {
    const [left, top] = [n % to[3], Math.floor(n / to[3]) % to[2]].map((at) => at * stride - padding) as [
      number,
      number,
    ];
    const [o, row] = [Math.floor(n / (to[2] * to[3])) % outputs, Math.floor(n / (to[1] * to[2] * to[3]))];
    const read = (c: number, dy: number, dx: number): number | undefined => {
      const [y, x] = [top + dy, left + dx];
      if (y < 0 || x < 0 || y >= height || x >= width) return undefined;
      return values[((row * channels + c) * height + y) * width + x];
    };
    return compute(read, o);
  });
  return { shape: to, values: out };
}
