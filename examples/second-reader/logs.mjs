// The two signed logs: the models of a task, and all that an authority ever said (docs/wire-format.md, "The authority's log").
import { bytes, fields, header, increasing, layout, list, must, sha256, short, u16, zeros } from './bytes.mjs';
import { registration, viewOver } from './derived.mjs';
import { Service } from './http.mjs';
import { isSigned } from './keys.mjs';
import * as layouts from './layouts.mjs';
import { countsWith } from './statements.mjs';

/** Every version has the signatures of t authorities, names the one before, the buffer it came of, and the bytes that the server gives. */
export async function checkModelLog(device, sums, authorities) {
  for (const authority of device.authorities.slice(0, authorities)) {
    let previous = zeros(32);
    for (let version = 0; version <= sums.length; version++) {
      const entry = layouts.modelEntry.decode(await authority.ask('GET', `${device.path}/model-log/${version}`));
      must(
        countsWith(entry, device.policy.authorities) && entry.task.equals(device.task),
        'an entry that does not count',
      );
      must(
        entry.version === version && entry.previous.equals(previous),
        'an entry that does not follow the one before',
      );
      must(entry.ctx.equals(version === 0 ? zeros(32) : sums[version - 1].ctx), 'an entry of another buffer');
      must(
        sha256(await device.server.ask('GET', `${device.path}/models/${version}`)).equals(entry.model),
        'another model',
      );
      previous = sha256(entry.words);
    }
  }
}

const hash = bytes(32);
const keyIssued = layout(100, 'hashed', {
  ctx: hash,
  slot: u16,
  user: hash,
  deviceKey: hash,
  g: hash,
  D: hash,
  view: hash,
  request: hash,
});
const closedSlots = list(fields({ slot: u16, g: hash, r: hash, selfName: short(32) }));
const bufferClosed = layout(101, 'hashed', { ctx: hash, closing: hash, accepted: closedSlots, withheld: increasing });

/** The chain of records gives the signed head; keys and closes in it are those of the buffers that were played. */
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

  const keys = records.filter((record) => record[2] === 100).map((record) => keyIssued.decode(record));
  const closes = records.filter((record) => record[2] === 101).map((record) => bufferClosed.decode(record));
  for (const { ctx, sessions, accepted } of sums) {
    const ours = keys.filter((key) => key.ctx.equals(ctx));
    must(new Set(ours.map((key) => key.slot)).size === ours.length, 'a key that was given twice');
    for (const key of ours) {
      const { ticket } = sessions.find(({ device }) => device.user.equals(key.user));
      must(
        key.slot === ticket.slot && key.g.equals(ticket.g) && key.D.equals(ticket.D) && key.view.equals(ticket.view),
        'another key',
      );
    }
    const close = closes.find((one) => one.ctx.equals(ctx));
    must(close?.closing.equals(closingOf(ctx, sessions, accepted)), 'a close of another set');
  }
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
