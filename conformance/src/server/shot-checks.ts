/** The one-shot mode at a server: what it hands on, which uploads it takes, and what it says of them afterwards. */
import { equalBytes, fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  agreedShotOutcome,
  beaconCodec,
  HEADER,
  isEndorsed,
  isEpochOf,
  isSigned,
  type JoinTag,
  modelEntryCodec,
  type ProblemCode,
  SERVER_PATH,
  type ShotHeader,
  type ShotUpload,
  shotOutcomeCodec,
  shotUploadCodec,
  standingsCodec,
  type TaskId,
  type TaskPolicy,
  type UserId,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { firstDifference, updateOf } from '../exact-updates.ts';
import { until } from '../until.ts';
import { certificateFor, KitDevice, type KitTask } from './kit-task.ts';
import { HeldShot } from './shot-upload.ts';

export async function shotChecks(kit: KitTask): Promise<void> {
  const { policy, report } = kit;
  const devices: KitDevice[] = [];
  try {
    for (let n = 0; n < policy.bufferSize; n++) devices.push(await KitDevice.enrolled(kit));
    const [first, second, third] = devices as [KitDevice, KitDevice, KitDevice];
    await report.play('one-shot: statements', () => standingsChecks(kit));
    const held = new HeldShot(kit, first, await first.holdUpload(0, policy));
    await report.play('one-shot: headers', () => headerChecks(kit, held));
    await report.play('one-shot: pieces', () => pieceChecks(kit, held));
    await report.play('one-shot: other bytes', () => otherBytesChecks(kit, held));
    const broken = new HeldShot(kit, second, await second.holdUpload(1, policy));
    await report.play('one-shot: a broken body', () => brokenBodyChecks(kit, broken));
    const { version } = await third.client.model();
    const result = await third.client.contribute(updateOf(2, policy), { trainedOn: version });
    if (result.kind !== 'accepted') throw new Error(`a device of the kit was refused: ${result.reason}`);
    await report.play('one-shot: the end of a batch', () => endChecks(kit, first, held));
  } finally {
    await Promise.all(devices.map((device) => device.close()));
  }
}

/** A device that accepts a forged statement seals its seeds to the key of the forger. */
async function standingsChecks(kit: KitTask): Promise<void> {
  const { server, policy, task } = kit;
  const expected = `at least ${policy.threshold} statements, each signed by its authority`;
  const told = await server.ask('GET', SERVER_PATH.standings(task));
  const isGood = hasGoodStandings(policy, task, told.body);
  server.notes('one-shot: the server hands on what the authorities signed', isGood, expected, told);
  const signer = createNodeSigner(nodeRandomBytes(32));
  const body = await certificateFor(kit, signer);
  const place = await server.signed('POST', SERVER_PATH.admissions(task), { signer, body });
  const isWith = hasGoodStandings(policy, task, fromHex(String(place.json['standings'])) ?? new Uint8Array());
  server.notes('one-shot: the same comes with a place', isWith, expected, place);
  await server.signed('DELETE', SERVER_PATH.admissions(task), { signer });
}

function hasGoodStandings(policy: TaskPolicy, task: string, told: Uint8Array): boolean {
  if (told.length === 0) return false;
  const { standings } = standingsCodec.decode(told);
  const good = standings.filter(
    ({ authority, epoch, beacon }) =>
      [epoch.authority, beacon.authority].every((index) => index === authority) &&
      toHex(epoch.task) === task &&
      isEpochOf(nodeSuite, policy, epoch) &&
      isSigned(nodeSuite, beaconCodec, beacon, policy.authorities[authority] as Uint8Array) &&
      isEndorsed(nodeSuite, modelEntryCodec, policy, beacon.entry),
  );
  return good.length === standings.length && good.length >= policy.threshold;
}

type Refusal = readonly [what: string, code: ProblemCode, upload: ShotUpload];

/** The first half of the body is enough for each no: the header decides before the rest of it comes. */
async function headerChecks({ server, policy }: KitTask, held: HeldShot): Promise<void> {
  const { upload, body, name } = held;
  const [half, strange] = [body.subarray(0, body.length >> 1), nodeRandomBytes(32)];
  const [{ authority = 0 } = {}, ...otherEpochs] = upload.header.epochs;
  const fewer = upload.certificate.endorsements.slice(0, policy.threshold - 1);
  const refusals: readonly Refusal[] = [
    ['that its device did not sign', 'signature-invalid', held.changed({ signature: nodeRandomBytes(64) })],
    ['of another user', 'not-yours', held.changed({ user: strange as UserId })],
    ['of another task', 'certificate-invalid', held.changed({ task: strange as TaskId })],
    ['of a model that is not logged', 'model-not-logged', held.changed({ entry: strange })],
    ['of a version that there is not', 'model-not-logged', held.changed({ version: 999 })],
    [
      'that names an epoch of nobody',
      'epoch-invalid',
      held.changed({ epochs: [{ authority, statement: strange }, ...otherEpochs] }),
    ],
    ['that names no epoch', 'epoch-invalid', held.changed({ epochs: [] })],
    [
      'with a certificate that too few signed',
      'certificate-invalid',
      { ...upload, certificate: { ...upload.certificate, endorsements: fewer } },
    ],
  ];
  for (const [what, code, changed] of refusals)
    server.refuses(`one-shot: a header ${what} is refused`, await held.put(0, half, {}, changed), code);
  const stolen = await held.put(0, half, { signer: createNodeSigner(nodeRandomBytes(32)) });
  server.refuses("one-shot: another's upload is refused", stolen, 'not-yours');
  const misplaced = await held.putAt(toHex(strange), 0, half, {
    headers: { [HEADER.upload]: toHex(shotUploadCodec.encode(upload)) },
  });
  server.refuses('one-shot: a header at the address of another upload is refused', misplaced, 'malformed');
  const headless = await held.putAt(name, 0, half, {});
  server.refuses('one-shot: an upload without its header is refused', headless, 'malformed');
  const unknown = await held.fate();
  server.refuses('one-shot: what was refused by its header is not known', unknown, 'not-found');
}

async function pieceChecks({ server }: KitTask, held: HeldShot): Promise<void> {
  const { body } = held;
  const half = body.length >> 1;
  const late = await held.put(half, body.subarray(half));
  server.refuses('one-shot: a piece that starts elsewhere is refused', late, 'offset-mismatch');
  const damaged = await held.put(0, flipped(body), { signed: body });
  server.refuses('one-shot: a piece that was damaged on the way is refused', damaged, 'digest-mismatch');
  const longer = await held.put(0, Buffer.concat([body, Buffer.alloc(1)]));
  server.refuses('one-shot: a body that is too long is refused', longer, 'body-too-large');
  await held.noteStanding('one-shot: what is refused leaves an upload where it was', 0);
  const first = await held.put(0, body.subarray(0, half));
  const isTaken = first.json['received'] === half && first.json['accepted'] === false;
  server.notes('one-shot: a piece is taken', isTaken, `{ received: ${half}, accepted: false }`, first);
  await held.noteStanding('one-shot: an upload is asked where it stands', half);
  const rest = await held.put(half, body.subarray(half));
  server.notes('one-shot: the last piece makes it accepted', held.isWhole(rest), 'accepted: true', rest);
  const again = await held.put(body.length, undefined);
  server.notes('one-shot: the same upload again gets the same answer', held.isWhole(again), 'accepted: true', again);
}

/** A device that could replace what it gave would be in two sums that differ by little more than its own update. */
async function otherBytesChecks({ server }: KitTask, held: HeldShot): Promise<void> {
  const other = flipped(held.body);
  const change: Partial<ShotHeader> = { bodyHash: nodeSuite.sha256(other) };
  const replaced = await held.put(0, other, {}, held.changed(change));
  server.refuses('one-shot: other bytes under the same tag are refused', replaced, 'upload-differs');
  const joinTag = nodeRandomBytes(32) as JoinTag;
  const second = await held.put(0, other, {}, held.changed({ ...change, joinTag }));
  server.refuses('one-shot: a second upload on the same version is refused', second, 'version-given');
  const fate = await held.fate();
  server.notes('one-shot: an upload waits for its batch', fate.json['fate'] === 'waiting', 'waiting', fate);
}

async function brokenBodyChecks({ server }: KitTask, held: HeldShot): Promise<void> {
  const broken = await held.put(0, flipped(held.body));
  server.refuses('one-shot: a body with another hash than its header is refused', broken, 'body-mismatch');
  const whole = await held.put(0, held.body);
  server.notes('one-shot: the right body is taken after a wrong one', held.isWhole(whole), 'accepted: true', whole);
}

async function endChecks(kit: KitTask, { signer }: KitDevice, held: HeldShot): Promise<void> {
  const { server, authorities, authority, operators, policy, report, signal, task } = kit;
  await until(async () => ((await operators.server.task(task)).version ?? 0) >= 1, signal);
  const problem = firstDifference(await operators.server.parameters(task, 1), [0, 1, 2], policy);
  report.note('one-shot: the sum is exact', problem === undefined, {
    expected: 'the sum of three updates, clipped, to the last entry',
    seen: problem ?? 'it',
  });
  const fate = await held.fate();
  const isIncluded = fate.json['fate'] === 'included' && fate.json['version'] === 1;
  server.notes('one-shot: the server says what became of an upload', isIncluded, 'included, version 1', fate);
  const { header } = held.upload;
  const told = await Promise.all(
    header.epochs.map(async ({ authority: index, statement }) => {
      const path = AUTHORITY_PATH.shotOutcome(task, header.user, header.joinTag, statement);
      const answer = await (authorities[index] ?? authority).signed('GET', path, { signer });
      return { answer, of: { authority: index, outcome: shotOutcomeCodec.decode(answer.body) } };
    }),
  );
  const question = { suite: nodeSuite, council: policy, task: header.task, user: header.user };
  const agreed = agreedShotOutcome(
    question,
    header,
    told.map(({ of }) => of),
  );
  const said = `a signed "included" of ${policy.threshold}`;
  report.note('one-shot: the authorities say that it is in a sum', agreed === 'included', {
    expected: said,
    seen: String(agreed),
  });
  const [{ statement = new Uint8Array(32) } = {}] = header.epochs;
  const path = AUTHORITY_PATH.shotOutcome(task, header.user, header.joinTag, statement);
  const stranger = await authority.signed('GET', path, { signer: createNodeSigner(nodeRandomBytes(32)) });
  authority.refuses('one-shot: what became of an upload is told to its device only', stranger, 'not-yours');
  const isSame = equalBytes((await held.put(held.body.length, undefined)).body, (await held.put(0, undefined)).body);
  report.note('one-shot: an upload that is in a sum gets the same answer', isSame, {
    expected: 'the same',
    seen: 'another',
  });
}

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, n) => (n === 3 ? byte ^ 1 : byte));
}
