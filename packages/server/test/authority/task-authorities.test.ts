/** A server's requests to all authorities of a task: one that is wrong or away keeps nobody from the answer of the others. */
import { equalBytes } from '@basa/masking';
import { endorse, type ModelAppend, type ModelEntry, modelEntryCodec, type TaskPolicy, taskIdOf } from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import type { AuthorityLink } from '../../src/authority/authority-link.ts';
import { TaskAuthorities } from '../../src/authority/task-authorities.ts';
import { bytes, policy as ofTests } from '../support/store-samples.ts';

const signers = [0, 1, 2, 3].map((n) => createNodeSigner(bytes(60 + n)));
const policy: TaskPolicy = { ...ofTests, authorities: signers.map(({ publicKey }) => publicKey), threshold: 3 };
const task = taskIdOf(nodeSuite, policy);

/** An authority with a log of models. */
class FakeLink {
  readonly #index: number;
  readonly log: ModelEntry[] = [];
  isAway = false;
  told = policy;
  lie = (entry: ModelEntry): ModelEntry => entry;

  constructor(index: number) {
    this.#index = index;
  }

  async policy(): Promise<TaskPolicy> {
    return this.told;
  }

  signed(body: Omit<ModelEntry, 'endorsements'>): ModelEntry {
    const signer = signers[this.#index] as (typeof signers)[number];
    return endorse(modelEntryCodec, policy, signer, body);
  }

  async appendModel({ version, modelHash, sums, spoilt }: Omit<ModelAppend, 'signature'>): Promise<ModelEntry> {
    if (this.isAway) throw new AuthorityUnreachable('it is away');
    if (version !== this.log.length) throw new AuthorityRefusal('wrong-version', 'wrong-version');
    const before = this.log.at(-1);
    const previous = before === undefined ? bytes(0) : modelEntryCodec.statementHash(nodeSuite, before);
    const entry = this.signed({ task, version, modelHash, sums, spoilt, previous });
    this.log.push(entry);
    return this.lie(entry);
  }

  async adoptModel(entry: ModelEntry): Promise<ModelEntry> {
    if (this.isAway) throw new AuthorityUnreachable('it is away');
    if (entry.version === this.log.length) this.log.push(entry);
    return this.log.at(-1) as ModelEntry;
  }
}

function council() {
  const links = signers.map((_, n) => new FakeLink(n));
  const start = () =>
    new TaskAuthorities({
      task,
      policy,
      ports: { suite: nodeSuite, signer: createNodeSigner(bytes(59)) },
      links: links as unknown as readonly AuthorityLink[],
      graceMs: 0,
      clock: () => 0,
    });
  const append = (version: number, before?: ModelEntry): Promise<ModelEntry> =>
    start().appendModel({ version, modelHash: bytes(version), sums: [], spoilt: [], closed: [] }, before);
  return { links: links as [FakeLink, FakeLink, FakeLink, FakeLink], start, append };
}

const otherBytes = (value: Uint8Array): Uint8Array => value.map((byte) => byte ^ 1);

it.each<[string, (entry: ModelEntry, link: FakeLink) => ModelEntry]>([
  [
    'a bad signature',
    (entry) => ({
      ...entry,
      endorsements: entry.endorsements.map((one) => ({ ...one, signature: otherBytes(one.signature) })),
    }),
  ],
  ['another version', (_, link) => link.log[0] as ModelEntry],
  ['another entry before it', (entry, link) => link.signed({ ...entry, previous: otherBytes(entry.previous) })],
  ['another model', (entry, link) => link.signed({ ...entry, modelHash: otherBytes(entry.modelHash) })],
])('one authority that logs %s keeps nobody from a version', async (_, lie) => {
  const { links, append } = council();
  const first = await append(0);
  links[0].lie = (entry) => lie(entry, links[0]);
  const { endorsements } = await append(1, first);
  expect(endorsements.map(({ authority }) => authority)).toEqual([1, 2, 3]);
});

it('logs a version with an authority that missed the one before it, also after a restart of the server', async () => {
  const { links, append } = council();
  const first = await append(0);
  links[3].isAway = true;
  const second = await append(1, first);
  links[3].isAway = false;
  links[0].isAway = true;
  expect((await append(2, second)).version).toBe(2);
  expect(equalBytes(links[3].log[2]?.modelHash ?? bytes(0), bytes(2))).toBe(true);
});

it('logs no version that too few of them sign', async () => {
  const { links, append } = council();
  for (const link of links.slice(0, 2)) link.isAway = true;
  await expect(append(0)).rejects.toThrow(AuthorityUnreachable);
});

it('does not go on with the policy of another task if too few authorities know its own', async () => {
  const { links, start } = council();
  links[0].told = { ...policy, minimum: 4 };
  await start().checkPolicy();
  links[1].told = { ...policy, minimum: 4 };
  await expect(start().checkPolicy()).rejects.toThrow('the policy of another task');
});
