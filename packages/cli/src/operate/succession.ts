/** `basa succession ...`: an authority of a task, or its server, is replaced by another key, in a term that enough authorities sign. */
import type { TaskPolicy, Term } from '@basa/protocol';
import {
  AUTHORITY_FLAGS,
  authorityOperator,
  OPEN_AUTHORITY_FLAGS,
  SERVER_FLAGS,
  serverOperator,
} from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { durationOf, keyIn, policiesOf, TAKES_DURATION } from '../flags/succession.ts';
import { TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { needed, parsed, text } from '../shell/flag.ts';
import { keepTerm, TERM_FLAG, termIn, written } from './term-file.ts';

export const successionKey: Command = command({
  name: 'succession key',
  summary: 'create a recovery key that you keep offline, or the next key of a server',
  flags: {
    out: needed({
      value: 'file',
      help: 'file for the secret key; the public key is written to file.pub; existing files are not overwritten',
    }),
  },
  notes: [
    'Do not keep a recovery key on a machine of the task. A person who has it can name the successor of a lost authority.',
    'Keep the next key of a server on its machine, as nextSigningKeyFile of its configuration.',
  ],
  async run({ flags: { out }, terminal }) {
    const { toHex } = await import('@basa/masking');
    const { createNodeSigner, nodeRandomBytes } = await import('@basa/runtime/node');
    const secret = nodeRandomBytes(32);
    const { publicKey } = createNodeSigner(secret);
    // An existing file may be the only recovery key, or one that others may read.
    await written(out, `${toHex(secret)}\n`, { mode: 0o600, flag: 'wx' });
    await written(`${out}.pub`, `${toHex(publicKey)}\n`, { flag: 'wx' });
    terminal.line(`${out} is the secret key`);
    terminal.line(`a recovery key: keep it offline, and create tasks with --recovery-key ${out}.pub`);
    terminal.line(`the next key of a server: add it as nextSigningKeyFile to the configuration of the server`);
    return { json: { secret: out, public: `${out}.pub`, key: toHex(publicKey) } };
  },
});

export const successionPropose: Command = command({
  name: 'succession propose',
  summary: 'write the next term of a task, in which another key replaces an authority or the server',
  takes: TAKES_TASK,
  flags: {
    seat: parsed<number | 'server'>(
      { value: 'n', help: 'authority to replace, by its position in the policy, from 0; or server', default: 0 },
      'a whole number from 0 to 15, or server',
      (given) => (given === 'server' ? given : /^([0-9]|1[0-5])$/.test(given) ? Number(given) : undefined),
    ),
    'server-key': text({ value: 'file', help: 'next secret key of the server, with --seat server' }),
    last: text({ value: 'url', help: 'address of the authority to replace', without: 'it is lost' }),
    effective: parsed<number>(
      {
        value: 'time',
        help: 'time from now until the term takes effect',
        without: 'the wait of the policy plus one hour',
      },
      TAKES_DURATION,
      durationOf,
    ),
    out: needed({ value: 'file', help: 'file for the term' }),
    ...SERVER_FLAGS,
    ...AUTHORITY_FLAGS,
  },
  notes: [
    '--authority is the address of the new authority, which accepts the seat. The operators of the other authorities then sign the file with `basa succession sign`.',
    'With --seat server, --authority is the address of the first authority that signs.',
  ],
  async run(input) {
    const { seat, last, effective, out, authority: address, 'server-key': file } = input.flags;
    if ((seat === 'server') !== (file !== undefined))
      throw new CommandError('--seat server and --server-key are used together: add the missing one');
    const server = await serverOperator(input);
    const [authority, task] = [await authorityOperator(input), await taskArgument(input, server)];
    const line = await server.line(task);
    const { acceptTerm, currentHash, headCodec, millis, SERVER_SEAT, termHashOf, termNumber } = await import(
      '@basa/protocol'
    );
    const { fromHex, toHex } = await import('@basa/masking');
    const { createNodeSigner, nodeSuite } = await import('@basa/runtime/node');
    const policy = (await policiesOf(line)).at(-1) as TaskPolicy;
    const waitMs = policy.succession?.waitMs;
    if (waitMs === undefined)
      throw new CommandError(
        'the policy of this task does not allow keys to be replaced; create a new task with --succession-wait',
      );
    const signer = file === undefined ? undefined : createNodeSigner(await keyIn(file, 'server-key', 'secret'));
    const keyOf = async (): Promise<Uint8Array | undefined> => fromHex((await authority.publicKeys())[0] ?? '');
    const atLast = { ...input, flags: { ...input.flags, authority: last ?? '', 'authority-token': undefined } };
    const [head] = last === undefined ? [] : await (await authorityOperator(atLast)).heads();
    const body = {
      task: fromHex(task) as Term['task'],
      number: termNumber(policy) + 1,
      previous: currentHash(nodeSuite, policy),
      seat: seat === 'server' ? SERVER_SEAT : seat,
      key: signer?.publicKey ?? (await keyOf()) ?? new Uint8Array(),
      address: seat === 'server' ? '' : address.replace(/\/$/, ''),
      last: head === undefined ? undefined : headCodec.decode(fromHex(head) ?? new Uint8Array()),
      effective: millis(Date.now() + (effective ?? waitMs + SPARE_MS)),
    };
    const accepted = signer === undefined ? new Uint8Array(64) : acceptTerm(nodeSuite, signer, body);
    const term = await authority.signTerm(task, { ...body, accepted, recovery: undefined, endorsements: [] });
    await keepTerm(out, term);
    const hash = toHex(termHashOf(nodeSuite, term));
    const key = toHex(term.key);
    input.terminal.line(`term ${term.number} of ${short(task)}: ${out}`);
    input.terminal.line(`its new key is ${key}: compare it with the owner of the key`);
    input.terminal.line(`its hash is ${hash}: send it to the other operators over another channel`);
    return { json: { task, number: term.number, key, hash, effective: term.effective, out } };
  },
});

export const successionPublish: Command = command({
  name: 'succession publish',
  summary: 'send a signed term to the server and to all authorities, including the new one',
  flags: { ...TERM_FLAG, ...SERVER_FLAGS, ...OPEN_AUTHORITY_FLAGS },
  async run(input) {
    const { toHex } = await import('@basa/masking');
    const term = await termIn(input.flags.term);
    const task = toHex(term.task);
    const [server, authority] = [await serverOperator(input), await authorityOperator(input)];
    const known = await server.line(task);
    const line = { policy: known.policy, terms: [...known.terms.slice(0, term.number - 1), term] };
    await server.showLine(task, line);
    await authority.showLine(task, line);
    input.terminal.line(`term ${term.number} takes effect at ${new Date(term.effective).toISOString()}`);
    return { json: { task, number: term.number, effective: term.effective } };
  },
});

export const successionShow: Command = command({
  name: 'succession show',
  summary: 'list the terms of a task, with their hashes',
  takes: TAKES_TASK,
  flags: SERVER_FLAGS,
  async run(input) {
    const server = await serverOperator(input);
    const task = await taskArgument(input, server);
    const { policy, terms } = await server.line(task);
    const { SERVER_SEAT, termHashOf } = await import('@basa/protocol');
    const { toHex } = await import('@basa/masking');
    const { nodeSuite } = await import('@basa/runtime/node');
    const shown = terms.map((term) => ({
      number: term.number,
      hash: toHex(termHashOf(nodeSuite, term)),
      seat: term.seat === SERVER_SEAT ? 'server' : term.seat,
      key: toHex(term.key),
      address: term.address,
      isLost: term.last === undefined && term.seat !== SERVER_SEAT,
      effective: new Date(term.effective).toISOString(),
    }));
    const allowed =
      policy.succession === undefined ? 'the keys of this task cannot be replaced' : 'the task is in its first term';
    if (shown.length === 0) input.terminal.line(allowed);
    for (const { number, hash, seat, key, address, effective } of shown) {
      const who = seat === 'server' ? `the server has key ${short(key)} from` : `${address} takes seat ${seat} at`;
      input.terminal.line(`term ${number}: ${who} ${effective}; hash ${hash}`);
    }
    return { json: { task, terms: shown } };
  },
});

/** Added to the wait of the policy, so that the other operators have time to sign. */
const SPARE_MS = 3_600_000;
