/** Shares out examples among users: evenly, by shards of one label, by writer, or Dirichlet (partition-dirichlet.ts). */
import { randomStream } from '../numbers/random-stream.ts';

/** The examples of each user, as indices into a dataset. */
export type Partition = readonly Uint32Array[];

export type Labels = Uint8Array | Int32Array | Float32Array | readonly number[];

/** Shuffled and dealt out: sizes differ by one at most. */
export function partitionEvenly(examples: number, users: number, seed: number): Partition {
  checkUsers(users, examples);
  const order = randomStream(seed, 'iid').shuffle(Uint32Array.from({ length: examples }, (_, index) => index));
  return cut(order, users);
}

/** McMahan et al.: sorted by label, cut into users * shardsPerUser shards, dealt out at random. */
export function partitionByShards(labels: Labels, users: number, shardsPerUser: number, seed: number): Partition {
  checkUsers(users * shardsPerUser, labels.length);
  const sorted = Uint32Array.from({ length: labels.length }, (_, index) => index);
  sorted.sort((a, b) => (labels[a] as number) - (labels[b] as number) || a - b);
  const shards = cut(sorted, users * shardsPerUser);
  const order = randomStream(seed, 'shards').shuffle(Array.from(shards, (_, index) => index));
  return Array.from({ length: users }, (_, user) =>
    joinParts(order.slice(user * shardsPerUser, (user + 1) * shardsPerUser).map((shard) => shards[shard] ?? [])),
  );
}

/** One user per writer, in the order in which writers first appear. */
export function partitionByWriter(writers: Labels): Partition {
  const lists = new Map<number, number[]>();
  for (let index = 0; index < writers.length; index++) {
    const writer = writers[index] as number;
    const list = lists.get(writer);
    if (list === undefined) lists.set(writer, [index]);
    else list.push(index);
  }
  return [...lists.values()].map((list) => Uint32Array.from(list));
}

function cut(order: Uint32Array, parts: number): Uint32Array[] {
  return Array.from({ length: parts }, (_, part) =>
    order.slice(Math.floor((part * order.length) / parts), Math.floor(((part + 1) * order.length) / parts)),
  );
}

export function joinParts(parts: readonly ArrayLike<number>[]): Uint32Array {
  const whole = new Uint32Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

export function checkUsers(users: number, examples: number): void {
  if (!Number.isInteger(users) || users < 1 || users > examples) {
    throw new RangeError(`${examples} examples cannot be shared among ${users}`);
  }
}
