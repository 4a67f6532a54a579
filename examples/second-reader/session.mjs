// One contribution: seat, deposit, key, mask, upload (docs/conformance.md, steps 5 to 8). Each step is made once and kept before it leaves,
// so that a device which was killed goes on with the same bytes.
import { createDecipheriv, randomBytes } from 'node:crypto';
import { header, hkdf, must, sha256, zeros } from './bytes.mjs';
import * as derived from './derived.mjs';
import { engineOf } from './engines.mjs';
import { patiently } from './http.mjs';
import { isSigned, x25519, x25519Public } from './keys.mjs';
import * as layouts from './layouts.mjs';
import { groupOf, masked, pack, vanishes, vectorOf } from './masks.mjs';
import { checkDescriptor, joined } from './statements.mjs';

export class Session {
  /** @param kept of a session that was begun: what `device.kept.session` holds */
  constructor(device, kept) {
    this.device = device;
    this.kept = kept;
    if (kept) this.#readDrawn(kept.drawn);
    if (kept?.answer) this.#readAnswer(kept.answer);
  }

  #keep(made) {
    this.kept = { ...this.kept, ...made };
    this.device.kept.session = this.kept;
    this.device.keep();
  }

  #readDrawn(drawn) {
    const { descriptor, slotKeys } = layouts.drawnBuffer.decode(drawn);
    const ctx = sha256(descriptor.words);
    this.buffer = { ...descriptor, ctx, t: descriptor.authorities.t, path: `/v1/buffers/${ctx.toString('hex')}` };
    this.engine = engineOf(this.buffer, slotKeys);
  }

  async seat() {
    const { device } = this;
    this.drawn = await patiently(() =>
      device.server.ask('POST', `${device.path}/seats`, { device, body: device.certificate.bytes }),
    );
    const { descriptor } = layouts.drawnBuffer.decode(this.drawn);
    checkDescriptor(descriptor, device.policy, device.task);
    device.sawVersion(descriptor);
    this.#readDrawn(this.drawn);
    must(!device.kept.entered.includes(this.buffer.ctx.toString('hex')), 'a buffer that was entered before');
  }

  /** Makes x', the seeds and their sealed forms, once; the buffer counts as entered from here on. `contribution.id` names the update. */
  prepare(update, contribution) {
    const { ctx, K, privacy } = this.buffer;
    const { participations } = this.device.kept;
    must(privacy.kind === 0 || participations < privacy.participations, 'a budget that is spent');
    const vector = vectorOf(update, contribution, this.buffer);
    must(this.buffer.version - contribution.tau <= this.buffer.maxStaleness, 'an update that is too old');
    must(!vanishes(vector, this.buffer), 'an update that vanishes');
    const nonce = randomBytes(16);
    const g = derived.joinTag(ctx, this.device.user, nonce);
    const seeds = Array.from({ length: K }, () => randomBytes(32)); // s_lj at j; those of slots up to l are never used
    const edges = seeds.slice(1).map((seed, k) => ({
      commitment: derived.commitment(seed),
      sealed: this.engine.sealEdge(seed, k + 1, derived.sealedContext(ctx, derived.EDGE, g, k + 1)),
    }));
    this.device.kept.entered.push(ctx.toString('hex'));
    this.#keep({
      drawn: this.drawn,
      update: contribution.id,
      vector,
      nonce,
      seeds,
      edges,
      certificate: this.device.certificate.bytes,
    });
  }

  async deposit() {
    const { device, kept } = this;
    const { ctx, K, path } = this.buffer;
    const g = derived.joinTag(ctx, device.user, kept.nonce);
    const D = derived.merkleRoot(kept.edges.map((edge, k) => derived.leaf(k + 1, edge)));
    const signature = device.sign(layouts.depositStatement.words({ ctx, g, D }));
    const body = layouts.deposit(K, this.engine.sealedBytes).encode({ ...kept, ctx, D, signature });
    const answer = await patiently(() => device.server.ask('POST', `${path}/deposits`, { device, body }));
    this.#readAnswer(answer);
    must(this.ticket.g.equals(g) && this.ticket.D.equals(D), 'a ticket of another deposit');
    this.#keep({ answer, ephemeralSecret: randomBytes(32) });
  }

  #readAnswer(answer) {
    const { ctx, K, server } = this.buffer;
    const { ticket, inbox } = layouts.depositAnswer(this.engine.sealedBytes).decode(answer);
    must(
      isSigned(server, ticket.words, ticket.signature) && ticket.ctx.equals(ctx),
      'a ticket that the server did not sign',
    );
    must(ticket.slot < K && inbox.length === ticket.slot, 'not one entry for each earlier slot');
    for (const { siblings, ...edge } of inbox) {
      const root = derived.rootFrom(derived.leaf(ticket.slot, edge), ticket.slot - 1, K - 1, siblings);
      must(root?.equals(edge.D), 'a seed that its deposit does not hold');
    }
    must(derived.viewOver(ctx, inbox).equals(ticket.view), 'a view of another history');
    Object.assign(this, { ticket, inbox });
  }

  /** Asks each authority with a part for its key of this slot; the t receipts become one. */
  async takeKey() {
    const { device, kept, ticket, inbox } = this;
    const ephemeral = x25519Public(kept.ephemeralSecret);
    const fields = { certificate: kept.certificate, nonce: kept.nonce, ticket, earlier: inbox, ephemeral };
    const body = layouts.keyRequest.encode(fields, device.sign); // Ed25519 signs the same words alike: the same bytes each time
    const request = sha256(body.subarray(0, -64));
    const answers = await device.askAll(
      this.buffer.parts.map((part) => device.authorities[part.authority]),
      async (authority) => {
        const index = device.authorities.indexOf(authority);
        const said = layouts.keyAnswer.decode(
          await authority.ask('POST', `${this.buffer.path}/keys`, { device, body }),
        );
        const { receipt, issuedKey } = said;
        const [mine, ...others] = receipt.signatures;
        must(mine?.authority === index && others.length === 0, 'a receipt of others');
        must(isSigned(authority.publicKey, receipt.words, mine.signature), 'a receipt that it did not sign');
        must(receipt.words.subarray(3).equals(ticket.words.subarray(3, -8)), 'a receipt of another slot'); // all but the deadline
        must(isSigned(authority.publicKey, issuedKey.words, issuedKey.signature), 'a key that it did not sign for');
        must(issuedKey.request.equals(request), 'a key for another request');
        const key = openEnvelope(said.envelope, kept.ephemeralSecret, ephemeral, request);
        must(sha256(key).equals(issuedKey.keyHash), 'another key than it signed for');
        return { index, receipt, key: this.engine.slotKey(key, index, ticket.slot) };
      },
    );
    this.keys = new Map(answers.map(({ index, key }) => [index, key]));
    const receipts = answers.map((one) => one.receipt);
    this.receipt = layouts.receipt.decode(joined(layouts.receipt, receipts, device.policy.authorities));
  }

  /** Opens the inbox, masks and seals: from here on header and body never change, and the update belongs to this buffer. */
  freeze() {
    const { ctx, K } = this.buffer;
    const { slot, g, view } = this.ticket;
    const opened = this.inbox.map((edge) => {
      const context = derived.sealedContext(ctx, derived.EDGE, edge.g, slot);
      const seed = this.engine.openEdge(edge.sealed, slot, this.keys, context);
      return seed && derived.commitment(seed).equals(edge.commitment) ? seed : undefined;
    });
    const earlier = opened.flatMap((seed, i) => (seed ? [{ i, seed }] : []));
    const voids = opened.flatMap((seed, i) => (seed ? [] : [i]));
    const r = derived.registration(this.ticket);
    const b = randomBytes(32);
    const sealedB = this.engine.sealSelf(b, r, derived.sealedContext(ctx, derived.SELF, r, 0));
    const backups = earlier.map(({ i, seed }) =>
      this.engine.sealEdge(seed, i, derived.sealedContext(ctx, derived.BACKUP, g, i)),
    );
    const terms = [
      { sign: 1, seed: b },
      ...earlier.map(({ seed }) => ({ sign: -1, seed })),
      ...this.kept.seeds.slice(slot + 1, K).map((seed) => ({ sign: 1, seed })),
    ];
    const group = groupOf(this.buffer.group);
    const body = Buffer.concat([pack(masked(this.kept.vector, terms, ctx, group), group.bits), sealedB, ...backups]);
    const said = { ctx, slot, g, view, selfName: this.engine.selfName(sealedB), bodyHash: sha256(body), voids };
    const signed = layouts.uploadHeader.encode({ ...said, receipt: this.receipt }, this.device.sign);
    this.device.kept.participations++;
    this.#keep({ header: signed, body, voids });
  }

  /** In pieces of at most `pieceBytes`, from where the server has got to. */
  async upload(pieceBytes = 1 << 20) {
    const { device, kept } = this;
    const target = `${this.buffer.path}/slots/${this.ticket.slot}/upload`;
    let at = 0;
    for (let accepted = false; !accepted; ) {
      const answer = await patiently(async () => {
        const headers = { 'basa-upload': kept.header.toString('hex'), 'upload-offset': String(at) };
        const body = kept.body.subarray(at, at + pieceBytes);
        return device.server.ask('PUT', target, { device, body, headers }).catch((error) => {
          if (error.code !== 'offset-mismatch') throw error;
          must(error.offset <= kept.body.length, 'an offset beyond the end');
          return { received: error.offset, accepted: false };
        });
      });
      must(answer.accepted || answer.received !== at, 'an upload that does not go on');
      at = answer.received;
      accepted = answer.accepted;
    }
    this.#keep({ accepted: true, seeds: [], vector: [], body: zeros(0) });
  }

  /** Whether the sum of this buffer holds this contribution, by the word of t authorities. */
  async outcome() {
    const { status, accepted } = await this.device.outcome(this.buffer.ctx);
    const mine = accepted.some((one) => one.slot === this.ticket?.slot && one.g.equals(this.ticket.g));
    return { status, accepted: accepted.map((one) => one.slot), included: mine };
  }
}

function openEnvelope(envelope, secret, ephemeral, request) {
  const sender = envelope.subarray(0, 32);
  const associated = Buffer.concat([header(69), request, sender, ephemeral]);
  const key = hkdf(x25519(secret, sender), request, associated);
  const decipher = createDecipheriv('chacha20-poly1305', key, zeros(12), { authTagLength: 16 });
  decipher.setAAD(associated, { plaintextLength: envelope.length - 48 });
  decipher.setAuthTag(envelope.subarray(-16));
  return Buffer.concat([decipher.update(envelope.subarray(32, -16)), decipher.final()]);
}
