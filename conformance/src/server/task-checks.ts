/** Tasks and models: made by operators, the same again is the same, and models are those of the log. */
import { equalBytes, toHex } from '@basa/masking';
import { AUTHORITY_PATH, encodePolicy, isEndorsed, modelEntryCodec, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { WHOLE_STEP } from '../whole-step.ts';
import type { KitTask } from './kit-task.ts';

const NOBODY = 'ab'.repeat(32);
const TOO_LONG = 8 << 20;

export async function taskChecks(kit: KitTask): Promise<void> {
  const { server, authority, policy, task } = kit;
  const bytes = encodePolicy(policy);
  const again = await authority.operate('POST', AUTHORITY_PATH.tasks, bytes);
  authority.notes('the same policy again is the same task', again.json['task'] === task, `task ${task}`, again);
  const shown = await authority.ask('GET', AUTHORITY_PATH.policy(task));
  authority.notes('the authority shows the policy, byte for byte', equalBytes(shown.body, bytes), 'the policy', shown);
  const unpolicied = await authority.ask('GET', AUTHORITY_PATH.policy(NOBODY));
  authority.refuses('the policy of no task is refused', unpolicied, 'task-unknown');
  const untokened = await authority.ask('POST', AUTHORITY_PATH.tasks, { body: bytes });
  authority.refuses('a policy without an operator is refused', untokened, 'operator-token-missing');
  const cut = await authority.operate('POST', AUTHORITY_PATH.tasks, bytes.subarray(0, -1));
  authority.refuses('a policy that is cut short is refused', cut, 'malformed');
  const long = authority.operate('POST', AUTHORITY_PATH.tasks, new Uint8Array(TOO_LONG));
  await authority.refusesLong('a policy without end is refused', long);

  const specification = JSON.stringify({ policy: toHex(bytes), serverStep: WHOLE_STEP });
  const same = await server.operate('POST', SERVER_PATH.tasks, specification);
  server.notes('the same task again is the same task', same.json['task'] === task, `task ${task}`, same);
  const other = JSON.stringify({ policy: toHex(bytes), stallMs: 12_345 });
  const changed = await server.operate('POST', SERVER_PATH.tasks, other);
  server.refuses('a task with other settings is refused', changed, 'task-exists');
  server.refuses('JSON that is none is refused', await server.operate('POST', SERVER_PATH.tasks, '{'), 'malformed');
  const open = await server.ask('POST', SERVER_PATH.tasks, { body: specification });
  server.refuses('a task without an operator is refused', open, 'operator-token-missing');
  server.refuses('no task is shown as no task', await server.ask('GET', SERVER_PATH.task(NOBODY)), 'task-unknown');
}

export async function modelChecks({ server, policy, task }: KitTask): Promise<void> {
  const newest = await server.ask('GET', SERVER_PATH.newestModel(task));
  const entry = modelEntryCodec.decode(newest.body);
  const isLogged = isEndorsed(nodeSuite, modelEntryCodec, policy, entry) && toHex(entry.task) === task;
  server.notes("the newest model is of the authority's log", isLogged, 'an entry the authority signed', newest);
  const path = SERVER_PATH.model(task, entry.version);
  const model = await server.ask('GET', path);
  const isIt = model.body.length === 4 * policy.dimension && equalBytes(nodeSuite.sha256(model.body), entry.modelHash);
  server.notes('a model has the hash of its entry', isIt, `${4 * policy.dimension} bytes with the logged hash`, model);
  const part = await server.ask('GET', path, { headers: { range: 'bytes=8-15' } });
  const isPart = part.status === 206 && equalBytes(part.body, model.body.subarray(8, 16));
  server.notes('a range of a model is answered', isPart, '206 and 8 bytes', part);
  const outside = await server.ask('GET', path, { headers: { range: 'bytes=99999999-' } });
  server.refuses('a range outside of a model is refused', outside, 'range-not-satisfiable');
  const later = await server.ask('GET', SERVER_PATH.model(task, 999));
  server.refuses('a version that is not logged is refused', later, 'not-found');
}
