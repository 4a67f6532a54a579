/**
 * Examples that are drawn on demand, in memory that threads share: drawing one takes longer than learning it. The first thread that needs a
 * user's examples draws and keeps them. Another thread that needs them at the same time draws its own copy and does not keep it.
 */
import { allSamples, type Dataset, type Samples } from '@basa/learning';

/** Can be passed to another thread as it is. */
export interface ExampleShelf {
  readonly most: number;
  readonly inputs: SharedArrayBuffer;
  readonly labels: SharedArrayBuffer;
  /** The state of each user: nothing yet, being drawn, or the number of examples. */
  readonly state: SharedArrayBuffer;
}

const BEING_DRAWN = -1;

/** Memory is allocated as it is filled. */
export function createShelf(users: number, most: number, words: number): ExampleShelf {
  return {
    most,
    inputs: new SharedArrayBuffer(users * most * words),
    labels: new SharedArrayBuffer(users * most),
    state: new SharedArrayBuffer(4 * users),
  };
}

/** Returns the first `most` examples of a user, or fewer; `draw` makes as many as the shelf has room for. */
export function takeExamples(
  shelf: ExampleShelf,
  user: number,
  most: number,
  draw: (user: number, most: number) => Dataset,
): Samples {
  const state = new Int32Array(shelf.state);
  if (most > shelf.most) return allSamples(draw(user, most));
  const first = Atomics.compareExchange(state, user, 0, BEING_DRAWN);
  if (first === BEING_DRAWN) return firstOf(allSamples(draw(user, shelf.most)), most);
  if (first === 0) {
    const drawn = draw(user, shelf.most);
    const place = placeOf(shelf, user, drawn.labels.length, state.length);
    place.inputs.set(drawn.inputs as Uint8Array);
    place.labels.set(drawn.labels);
    Atomics.store(state, user, drawn.labels.length);
    return firstOf(allSamples(drawn), most);
  }
  // Everything but the examples, of which this draws none.
  const about = draw(user, 0);
  return firstOf(allSamples({ ...about, ...placeOf(shelf, user, first, state.length) }), most);
}

function firstOf(samples: Samples, most: number): Samples {
  return { ...samples, indices: samples.indices.subarray(0, most) };
}

function placeOf(shelf: ExampleShelf, user: number, count: number, users: number) {
  const words = shelf.inputs.byteLength / (users * shelf.most);
  return {
    inputs: new Uint8Array(shelf.inputs, user * shelf.most * words, count * words),
    labels: new Uint8Array(shelf.labels, user * shelf.most, count),
  };
}
