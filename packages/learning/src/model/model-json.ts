/** A network as people write it down: `{ "name", "input": { "height", "width", "channels" }, "layers": [{ "kind", ... }] }`. */
import { conv2d, dense, dropout, flatten, groupNorm, type Layer, maxPool, relu, sigmoid, softmax } from './layers.ts';
import { defineModel, type Model, type Shape } from './model.ts';

export interface ModelJson {
  readonly name?: string;
  readonly input: Shape;
  readonly layers: readonly Layer[];
}

export function modelJson({ name, input, layers }: Model): ModelJson {
  return { name, input, layers: layers.map(({ layer }) => layer) };
}

/** Throws a `RangeError` that names the place. A field that a layer leaves out has the default of its builder. */
export function readModelJson(value: unknown): Model {
  const { name = 'model', input, layers } = objectOf(value, 'a network', ['name', 'input', 'layers']);
  if (typeof name !== 'string' || name.length === 0 || name.length > 64) {
    throw new RangeError('name must be a text of at most 64 characters');
  }
  const { height, width, channels } = objectOf(input, 'input', ['height', 'width', 'channels']);
  const [h, w, c] = [height ?? 1, width ?? 1, channels].map((size, n) => {
    if (isCount(size)) return size;
    throw new RangeError(`input.${['height', 'width', 'channels'][n]} must be a positive integer`);
  }) as [number, number, number];
  if (!Array.isArray(layers)) throw new RangeError('layers must be a list, one layer after the other');
  return defineModel(name, { height: h, width: w, channels: c }, layers.map(readLayer));
}

type Given = Readonly<Record<string, unknown>>;

/** The keys of each kind, and the function that builds it from them; `defineModel` checks the numbers. */
const KINDS: Readonly<Record<Layer['kind'], readonly [keys: readonly string[], make: (given: Given) => Layer]>> = {
  conv2d: [
    ['outputs', 'window', 'stride', 'padding', 'name'],
    ({ outputs, window, ...rest }) => conv2d(outputs as number, window as number, rest),
  ],
  dense: [['outputs', 'name'], ({ outputs, ...rest }) => dense(outputs as number, rest)],
  groupNorm: [['groups', 'epsilon', 'name'], ({ groups, ...rest }) => groupNorm(groups as number, rest)],
  maxPool: [['window', 'stride', 'padding'], ({ window, ...rest }) => maxPool(window as number, rest)],
  dropout: [['rate'], ({ rate }) => dropout(rate as number)],
  relu: [[], () => relu],
  sigmoid: [[], () => sigmoid],
  softmax: [[], () => softmax],
  flatten: [[], () => flatten],
};

function readLayer(value: unknown, index: number): Layer {
  const place = `layer ${index}`;
  const { kind, ...given } = objectOf(value, place);
  const known = Object.hasOwn(KINDS, String(kind)) ? KINDS[kind as Layer['kind']] : undefined;
  if (known === undefined) {
    throw new RangeError(
      `${place}: there is no kind "${String(kind)}"; choose one of ${Object.keys(KINDS).join(', ')}`,
    );
  }
  const [keys, make] = known;
  const { name } = objectOf(given, `${place} (${String(kind)})`, keys);
  if (name !== undefined && typeof name !== 'string') throw new RangeError(`${place}: name must be a text`);
  return make(given);
}

function objectOf(value: unknown, what: string, keys?: readonly string[]): Given {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RangeError(`${what} must be an object${keys === undefined ? ' like { "kind": "relu" }' : ''}`);
  }
  const strange = Object.keys(value).find((key) => keys !== undefined && !keys.includes(key));
  if (strange !== undefined) {
    throw new RangeError(`${what}: there is no "${strange}"; it takes ${keys?.join(', ') || 'nothing else'}`);
  }
  return { ...value };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}
