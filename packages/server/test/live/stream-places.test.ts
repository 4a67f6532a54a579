/** The assignment of places at the event stream when there are few. */
import { expect, it } from 'vitest';
import { MAX_STREAMS_OF_NETWORK, StreamPlaces } from '../../src/live/event-stream.ts';

/** Takes a place as the route does, and notes whose streams were ended. */
function hall(maxStreams: number) {
  const places = new StreamPlaces(maxStreams);
  const ended: string[] = [];
  const enter = (network: string, name: string = network) => {
    const room = places.makeRoom(network);
    const leave = room === 'free' ? places.take(network, () => ended.push(name)) : () => {};
    return { room, leave };
  };
  return { enter, ended, places };
}

it('a network has no more than its share of places, also while others are free', () => {
  const { enter } = hall(1000);
  const first = enter('a');
  for (let n = 1; n < MAX_STREAMS_OF_NETWORK; n++) expect(enter('a').room).toBe('free');
  expect([enter('a').room, enter('b').room]).toEqual(['network-full', 'free']);
  first.leave();
  expect(enter('a').room).toBe('free');
});

it('if all places are taken, a newcomer gets the oldest place of the network with the most places', () => {
  const { enter, ended } = hall(5);
  for (const name of ['b1', 'a1', 'a2', 'a3', 'b2']) enter(name[0] as string, name);
  expect(enter('c', 'c1').room).toBe('free');
  expect(ended).toEqual(['a1']);
  expect([enter('a', 'a4').room, enter('b', 'b3').room]).toEqual(['all-full', 'all-full']);
});

it('the only place of a network is never given away', () => {
  const { enter, ended } = hall(3);
  for (const name of ['a', 'b', 'c']) enter(name);
  expect([enter('d').room, ended]).toEqual(['all-full', []]);
});

it('all streams end immediately when the server stops', () => {
  const { enter, ended, places } = hall(3);
  for (const name of ['a', 'b']) enter(name);
  places.endAll();
  expect(ended).toEqual(['a', 'b']);
});
