/** Examines uploads and sums the masks of a batch, from plain data: in a thread. */
import { addInPlace, type Keystream, type MaskTools, plainVectorKernel, toHex, withKeysOf } from '@basa/masking';
import { isRefused, type Refused, refused } from '@basa/protocol';
import { Parts } from '@basa/protocol/one-shot';
import { type Part, TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { InspectRequest, ReleaseRequest, shotLayout } from '@basa/protocol/wire';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';
import { type MaskResult, type MaskTask, type UploadsTask, wipeSecrets } from './tasks.ts';

// The cryptography and kernels with which uploads are examined and masks summed.

export const maskTools = {
  suite: withKem(nodeSuite),
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};

type Of<Kind extends MaskTask['kind']> = Extract<MaskTask, { readonly kind: Kind }>;
type Tools = MaskTools<Keystream>;

export function workOn(task: MaskTask, tools: Tools): MaskResult {
  if (task.kind === 'pack') return pack(task, tools);
  try {
    return task.kind === 'examine' ? examine(task, tools) : sum(task, tools);
  } finally {
    wipeSecrets(task.secrets);
  }
}

function examine(task: Of<'examine'>, tools: Tools): MaskResult {
  const { uploads, epochs } = InspectRequest.decode(task.request);
  const [of, ports] = [taskOf(task.policy, tools), portsOf(task, tools)];
  const known = Parts.shownEpochs(tools.suite, of, epochs);
  const examined = uploads.slice(task.from, task.to).map((shown) => Parts.examineUpload(ports, of, shown, known));
  return { kind: 'examined', uploads: examined.map((one) => (isRefused(one) ? one : one.guards)) };
}

function sum(task: Of<'sum'>, tools: Tools): MaskResult {
  const { uploads, epochs } = ReleaseRequest.decode(task.request);
  const [of, ports] = [taskOf(task.policy, tools), portsOf(task, tools)];
  const known = Parts.shownEpochs(tools.suite, of, epochs);
  const masked = new Map(task.parts.map((part): [Part, Parts.MaskedUpload[]] => [part, []]));
  for (const [n, shown] of uploads.slice(task.from, task.to).entries()) {
    const opened = Parts.openParts(ports, of, shown, known);
    if (isRefused(opened)) {
      for (const { seed } of [...masked.values()].flat()) seed.fill(0);
      return { kind: 'refused', refused: at(opened, task.from + n) };
    }
    for (const { part, seed } of opened) {
      const wanted = masked.get(part);
      if (wanted === undefined) seed.fill(0);
      else wanted.push({ name: shown.header, seed });
    }
  }
  return { kind: 'summed', sums: task.parts.map((part) => summed(of.policy, tools, part, masked.get(part) ?? [])) };
}

function summed(policy: TaskPolicy, tools: Tools, part: Part, uploads: readonly Parts.MaskedUpload[]): Uint32Array {
  const total = new Uint32Array(shotLayout(policy, []).elements);
  Parts.addMasksInPlace(total, { suite: tools.suite, tools }, policy, part, uploads);
  return total;
}

function pack({ policy: bytes, shards, noise }: Of<'pack'>, tools: Tools): MaskResult {
  const { suite, kernel } = tools;
  const [total = new Uint32Array(), ...others] = shards;
  const policy = TaskPolicy.decode(bytes);
  for (const shard of others) addInPlace(total, shard, policy.modulus, kernel);
  if (noise !== undefined) {
    Parts.addAuthorityNoise(total, { suite, tools }, policy, noise.secrets, noise.ctx);
    for (const secret of noise.secrets) secret.fill(0);
  }
  const packed = Parts.packSum(total, policy, { kernel });
  return { kind: 'packed', packed, hash: suite.sha256(packed) };
}

function taskOf(bytes: Uint8Array, { suite }: Tools): Parts.ExaminedTask {
  const policy = TaskPolicy.decode(bytes);
  return { id: taskIdOf(suite, policy), policy };
}

function portsOf({ authority, secrets }: UploadsTask, tools: Tools): Parts.ExaminePorts {
  const known = new Map(secrets.map((secret) => [toHex(secret.statement), secret]));
  return {
    suite: withKeysOf(tools.suite, secrets),
    authority,
    tools,
    epochSecret: (statement) => known.get(toHex(statement)),
  };
}

function at({ reason, detail }: Refused, position: number): Refused {
  return refused(reason, { uploads: [position], ...(detail !== undefined && { detail }) });
}
