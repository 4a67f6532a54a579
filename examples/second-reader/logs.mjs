// The two signed logs: the models of a task, and all that an authority ever said (docs/wire-format.md, "The authority's log").
import {
  bytes,
  fields,
  header,
  increasing,
  layout,
  list,
  must,
  nested,
  sha256,
  short,
  u16,
  u53,
  zeros,
} from './bytes.mjs';
import { registration, viewOver } from './derived.mjs';
import { Service } from './http.mjs';
import { isSigned } from './keys.mjs';
import * as layouts from './layouts.mjs';
import { countsWith } from './statements.mjs';

/** Every version has the signatures of t authorities, is told by t, names the one before, its buffer, and the bytes that the server gives. */
export async function checkModelLog(device, sums) {
  let previous = zeros(32);
  for (let version = 0; version <= sums.length; version++) {
    const [entry] = await device.askAll(device.authorities, async (authority) => {
      const one = layouts.modelEntry.decode(await authority.ask('GET', `${device.path}/model-log/${version}`));
      must(countsWith(one, device.policy.authorities) && one.task.equals(device.task), 'an entry that does not count');
      must(one.version === version && one.previous.equals(previous), 'an entry that does not follow the one before');
      return one;
    });
    must(entry.ctx.equals(version === 0 ? zeros(32) : sums[version - 1].ctx), 'an entry of another buffer');
    const parameters = await device.server.ask('GET', `${device.path}/models/${version}`);
    must(sha256(parameters).equals(entry.model), 'a model that is not in the log');
    previous = sha256(entry.words);
  }
}

const hash = bytes(32);
const closedSlots = list(fields({ slot: u16, g: hash, r: hash, selfName: short(32) }));
const [KEY_ISSUED, CLOSED, VOTED] = [100, 101, 106];
const issued = { ctx: hash, slot: u16, user: hash, deviceKey: hash, g: hash, D: hash, view: hash, request: hash };
/** Every kind of record: what cannot be read by these is not the log of the page. */
const RECORDS = {
  96: { policy: nested(layouts.policy) },
  97: { certificate: nested(layouts.certificate) },
  98: { user: hash, at: u53 },
  99: { nonce: bytes(16), descriptor: nested(layouts.descriptor) },
  [KEY_ISSUED]: issued,
  [CLOSED]: { ctx: hash, closing: hash, accepted: closedSlots, withheld: increasing },
  102: { ctx: hash },
  103: { ctx: hash },
  104: { entry: nested(layouts.modelEntry) },
  105: { branch: bytes(16), heads: list(nested(layouts.head), 1) },
  [VOTED]: { ctx: hash, closing: hash },
  107: { entry: nested(layouts.modelEntry) },
};
const readRecord = (record) => ({ kind: record[2], ...layout(record[2], 'hashed', RECORDS[record[2]]).decode(record) });

/** The chain of records gives the signed head; keys and closes in it are those of the buffers that were played. Returns which of them it closed. */
export async function checkAuthorityLog({ url, publicKey }, token, sums) {
  const log = await new Service(url).ask('GET', '/v1/log', { token });
  let chain = zeros(32);
  let at = 0;
  const records = [];
  for (let size = log.readUInt32LE(0); size > 0; size = log.readUInt32LE(at)) {
    const record = log.subarray(at + 4, at + 4 + size);
    chain = sha256(header(70), chain, sha256(record));
    records.push(record);
    at += 4 + size;
  }
  const head = layouts.head.decode(log.subarray(at + 4));
  must(isSigned(publicKey, head.words, head.signature), 'a head that the authority did not sign');
  must(head.hash.equals(chain) && head.sequence === records.length, 'a log that is not the one of its head');

  const read = records.map(readRecord);
  return sums.map(({ ctx, sessions, accepted }) => {
    const ours = read.filter((record) => record.ctx?.equals(ctx));
    const keys = ours.filter((record) => record.kind === KEY_ISSUED);
    must(new Set(keys.map((key) => key.slot)).size === keys.length, 'a key that was given twice');
    for (const key of keys) {
      const { ticket, device } = sessions.find((one) => one.ticket?.slot === key.slot);
      const isSame = registration(key).equals(registration(ticket)) && key.user.equals(device.user);
      must(isSame, 'a key of another registration');
    }
    const closing = closingOf(ctx, sessions, accepted);
    for (const record of ours.filter(({ kind }) => kind === CLOSED || kind === VOTED)) {
      must(record.closing.equals(closing), 'a vote or close of another set');
    }
    return ours.some((record) => record.kind === CLOSED);
  });
}

/** What a vote names: all deposits, and the registrations that are in the sum. */
function closingOf(ctx, sessions, accepted) {
  const deposits = sessions
    .filter((session) => session.ticket)
    .sort((one, other) => one.ticket.slot - other.ticket.slot);
  const slots = deposits
    .filter(({ ticket }) => accepted.includes(ticket.slot))
    .map(({ ticket, kept }) => ({
      slot: ticket.slot,
      g: ticket.g,
      r: registration(ticket),
      selfName: layouts.uploadHeader.decode(kept.header).selfName,
    }));
  const view = viewOver(
    ctx,
    deposits.map(({ ticket }) => ticket),
  );
  return sha256(header(72), ctx, u16.write(deposits.length), view, closedSlots.write(slots));
}
