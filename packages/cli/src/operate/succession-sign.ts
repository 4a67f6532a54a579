/**
 * `basa succession sign` and `recover`. The file came from another person, so both show the term and sign only the one
 * whose hash the operator got over another channel.
 */
import type { AuthorityOperator } from '@basa/client/operator';
import type { Term } from '@basa/protocol';
import { AUTHORITY_FLAGS, authorityOperator } from '../flags/connection.ts';
import { keyIn, policiesOf } from '../flags/succession.ts';
import { type Command, CommandError, type CommandInput, command } from '../shell/command.ts';
import { digits, needed } from '../shell/flag.ts';
import { keepTerm, TERM_FLAG, termIn } from './term-file.ts';

const SIGNED_FLAGS = {
  ...TERM_FLAG,
  hash: digits({
    help: 'hash of the term, from the operator who proposed it',
    without: 'the term is shown and not signed',
  }),
};
const HASH_NOTE =
  'Get --hash from the operator who proposed the term, over another channel than the file, for example by telephone.';

export const successionSign: Command = command({
  name: 'succession sign',
  summary: 'let an authority sign a term; it signs only one term for each number',
  flags: { ...SIGNED_FLAGS, ...AUTHORITY_FLAGS },
  notes: [HASH_NOTE, 'An authority signs only one successor, so a wrong one keeps it from signing the right one.'],
  async run(input) {
    const { toHex } = await import('@basa/masking');
    const authority = await authorityOperator(input);
    const term = await confirmedTerm(input, (shown) => oldKeyOf(authority, shown));
    const signed = await authority.signTerm(toHex(term.task), term);
    await keepTerm(input.flags.term, signed);
    input.terminal.line(`signatures of authorities so far: ${signed.endorsements.length}`);
    return { json: { signed: signed.endorsements.map(({ authority }) => authority) } };
  },
});

export const successionRecover: Command = command({
  name: 'succession recover',
  summary: 'sign a term with the recovery key, without a network',
  flags: { ...SIGNED_FLAGS, 'recovery-key': needed({ value: 'file', help: 'the secret recovery key' }) },
  notes: [HASH_NOTE],
  async run(input) {
    const { recoverTerm } = await import('@basa/protocol');
    const { createNodeSigner, nodeSuite } = await import('@basa/runtime/node');
    const term = await confirmedTerm(input, async () => undefined);
    const signer = createNodeSigner(await keyIn(input.flags['recovery-key'], 'recovery-key', 'secret'));
    await keepTerm(input.flags.term, { ...term, recovery: recoverTerm(nodeSuite, signer, term) });
    input.terminal.line('the term is signed with the recovery key');
    return { json: { recovered: true } };
  },
});

/** Shows the term, and returns it if --hash is its hash. The hash is not shown, so that nobody copies it from here. */
async function confirmedTerm(
  { flags: { term: file, hash }, terminal }: CommandInput<typeof SIGNED_FLAGS>,
  oldKey: (term: Term) => Promise<string | undefined>,
): Promise<Term> {
  const { toHex } = await import('@basa/masking');
  const { SERVER_SEAT, termHashOf } = await import('@basa/protocol');
  const { nodeSuite } = await import('@basa/runtime/node');
  const term = await termIn(file);
  const old = await oldKey(term);
  const { number, seat, address, last, effective } = term;
  const isServers = seat === SERVER_SEAT;
  terminal.line(`term ${number} of task ${toHex(term.task)}`);
  terminal.line(
    `  replaces: ${isServers ? 'the server' : `seat ${seat}${last === undefined ? ', which is lost' : ''}`}`,
  );
  if (old !== undefined) terminal.line(`  old key:  ${old}`);
  terminal.line(`  new key:  ${toHex(term.key)}`);
  // As JSON, because a control character in it could hide the other lines.
  if (!isServers) terminal.line(`  address:  ${JSON.stringify(address)}`);
  terminal.line(`  from:     ${new Date(effective).toISOString()}`);
  if (hash === toHex(termHashOf(nodeSuite, term))) return term;
  throw new CommandError(
    hash === undefined
      ? '--hash is missing, so the term was not signed; ask the operator who proposed the term for its hash'
      : `${file} has another hash than --hash, so the term was not signed; ask the operator who proposed it for the file and its hash`,
  );
}

/** The key that holds the seat now. A new authority does not know the task yet, and accepts a seat without it. */
async function oldKeyOf(authority: AuthorityOperator, { task, number, seat }: Term): Promise<string | undefined> {
  const { toHex } = await import('@basa/masking');
  const { SERVER_SEAT } = await import('@basa/protocol');
  const { ProblemError } = await import('@basa/client/operator');
  try {
    const before = (await policiesOf(await authority.line(toHex(task))))[number - 1];
    const key = seat === SERVER_SEAT ? before?.serverKey : before?.authorities[seat];
    return key === undefined ? undefined : toHex(key);
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'task-unknown') return undefined;
    throw error;
  }
}
