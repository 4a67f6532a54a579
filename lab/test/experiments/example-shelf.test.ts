/** The shelf of drawn examples: the first thread draws, and no thread reads a half-drawn example. */

import { createShelf, takeExamples } from '@basa/lab/experiments/tasks/example-shelf.ts';
import type { Dataset } from '@basa/learning';
import { expect, it } from 'vitest';

const [USERS, MAX_KEPT, WORDS] = [3, 4, 2];

/** Counts how often it has to draw. */
function drawing() {
  const drawn: [user: number, most: number][] = [];
  const draw = (user: number, most: number): Dataset => {
    drawn.push([user, most]);
    const count = Math.min(most, 6);
    return {
      name: 'drawn',
      shape: { height: 1, width: WORDS, channels: 1 },
      classes: 10,
      inputs: Uint8Array.from({ length: count * WORDS }, (_, at) => 10 * user + at),
      labels: Uint8Array.from({ length: count }, (_, at) => user + at),
    };
  };
  return { drawn, draw };
}

it('draws the examples of a user once, and gives the same ones to everybody after', () => {
  const shelf = createShelf(USERS, MAX_KEPT, WORDS);
  const { drawn, draw } = drawing();
  const first = takeExamples(shelf, 1, 3, draw);
  const second = takeExamples(shelf, 1, 3, draw);
  expect(drawn).toEqual([
    [1, MAX_KEPT],
    [1, 0],
  ]);
  expect(second.indices).toEqual(first.indices);
  expect([...second.dataset.inputs]).toEqual([...first.dataset.inputs]);
  expect([...second.dataset.labels]).toEqual([1, 2, 3, 4]);
});

it('gives no more examples than were asked for', () => {
  const shelf = createShelf(USERS, MAX_KEPT, WORDS);
  const { draw } = drawing();
  expect(takeExamples(shelf, 0, 2, draw).indices).toHaveLength(2);
  expect(takeExamples(shelf, 0, 2, draw).indices).toHaveLength(2);
});

it('a thread that comes while another one draws makes its own examples and does not touch the shelf', () => {
  const shelf = createShelf(USERS, MAX_KEPT, WORDS);
  const { draw } = drawing();
  let meanwhile: ReturnType<typeof takeExamples> | undefined;
  const slow = (user: number, most: number): Dataset => {
    meanwhile ??= takeExamples(shelf, 2, MAX_KEPT, draw);
    return draw(user, most);
  };
  const own = takeExamples(shelf, 2, MAX_KEPT, slow);
  expect([...(meanwhile?.dataset.labels ?? [])]).toEqual([...own.dataset.labels]);
  expect(meanwhile?.dataset.inputs.buffer).not.toBe(shelf.inputs);
  expect(new Int32Array(shelf.state)[2]).toBe(MAX_KEPT);
});

it('a request for more than the shelf holds is met, and nothing is kept', () => {
  const shelf = createShelf(USERS, MAX_KEPT, WORDS);
  const { draw } = drawing();
  expect(takeExamples(shelf, 0, 6, draw).indices).toHaveLength(6);
  expect(new Int32Array(shelf.state)[0]).toBe(0);
});
