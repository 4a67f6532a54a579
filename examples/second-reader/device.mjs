// One device: the order of things of docs/conformance.md, each step with its checks. Nothing is kept on disk: what a device must
// make durable is in that page, and a process that ends here has lost its session.
import { createDecipheriv, randomBytes } from 'node:crypto';
import { hkdf, must, sha256, zeros } from './bytes.mjs';
import * as derived from './derived.mjs';
import { engineOf } from './engines.mjs';
import { patiently } from './http.mjs';
import { isSigned, signingKey, x25519, x25519Public } from './keys.mjs';
import * as layouts from './layouts.mjs';
import { groupOf, masked, pack, vectorOf } from './masks.mjs';
import { agreeing, checkDescriptor, checkPolicy, countsWith, joined } from './statements.mjs';

export class Device {
  /** @param {{ server: Service, authorities: Service[], task: Buffer }} pinned */
  constructor(pinned) {
    Object.assign(this, pinned, signingKey());
    this.user = sha256(this.publicKey);
    this.path = `/v1/tasks/${this.task.toString('hex')}`;
    this.seen = { version: -1 };
    this.entered = new Set();
  }

  /** Every authority is asked at once; answers that fail or do not hold are left out. */
  async #askAll(authorities, question) {
    const answers = await Promise.allSettled(authorities.map((one) => patiently(() => question(one))));
    const good = answers.filter((answer) => answer.status === 'fulfilled').map((answer) => answer.value);
    if (good.length < this.policy.authorities.t) throw answers.find((answer) => answer.status === 'rejected').reason;
    return good;
  }

  async connect() {
    const encoded = await this.authorities[0].ask('GET', `${this.path}/policy`);
    this.policy = layouts.policy.decode(encoded);
    must(sha256(encoded).equals(this.task), 'a policy that is not the task');
    checkPolicy(this.policy, this.authorities);
    const { publicKey } = await this.server.ask('GET', '/v1/server');
    must(publicKey === this.policy.server.toString('hex'), 'a server that the policy does not name');
  }

  async enrol(token) {
    const target = `${this.path}/enrolments`;
    const given = [];
    let like;
    for (const authority of this.authorities) {
      const one = layouts.certificate.decode(
        await patiently(() => authority.ask('POST', target, { device: this, json: { token, like } })),
      );
      like = { issuedAt: one.issuedAt, notAfter: one.notAfter };
      given.push(one);
    }
    this.certificate = layouts.certificate.decode(joined(layouts.certificate, given, this.policy.authorities));
    const { task, deviceKey, notAfter } = this.certificate;
    must(
      task.equals(this.task) && deviceKey.equals(this.publicKey) && notAfter > Date.now(),
      'a certificate of something else',
    );
  }

  #sawVersion({ version, model }) {
    must(version >= this.seen.version, 'a version behind one that was seen');
    must(version > this.seen.version || model.equals(this.seen.model), 'two models of one version');
    this.seen = { version, model };
  }

  /** The newest model by the word of t authorities, and its bytes by the server's. */
  async newest() {
    const nonce = randomBytes(16);
    const answers = await this.#askAll(this.authorities, async (authority) => {
      const before = authority.head;
      const said = layouts.newestModel.decode(
        await authority.ask('GET', `${this.path}/model-log/newest/${nonce.toString('hex')}`),
      );
      must(
        isSigned(authority.publicKey, said.words, said.signature) && said.nonce.equals(nonce),
        'not an answer to this question',
      );
      must(!before?.branch.equals(said.branch) || said.sequence >= before.sequence, 'a log that went back');
      must(
        said.entry.task.equals(this.task) && countsWith(said.entry, this.policy.authorities),
        'an entry that does not count',
      );
      return said.entry;
    });
    const entry = answers.reduce((one, other) => (other.version > one.version ? other : one));
    this.#sawVersion(entry);
    const parameters = await patiently(() => this.server.ask('GET', `${this.path}/models/${entry.version}`));
    must(sha256(parameters).equals(entry.model), 'a model that is not in the log');
    return { entry, parameters };
  }

  async seat() {
    const encoded = await patiently(() =>
      this.server.ask('POST', `${this.path}/seats`, { device: this, body: this.certificate.bytes }),
    );
    const { descriptor, slotKeys } = layouts.drawnBuffer.decode(encoded);
    checkDescriptor(descriptor, this.policy, this.task);
    this.#sawVersion(descriptor);
    const ctx = sha256(descriptor.words);
    must(!this.entered.has(ctx.toString('hex')), 'a buffer that was entered before');
    this.entered.add(ctx.toString('hex'));
    this.buffer = { ...descriptor, ctx, t: descriptor.authorities.t, path: `/v1/buffers/${ctx.toString('hex')}` };
    this.engine = engineOf(this.buffer, slotKeys);
  }

  async deposit() {
    const { ctx, K, path, server } = this.buffer;
    const nonce = randomBytes(16);
    const g = derived.joinTag(ctx, this.user, nonce);
    this.seeds = Array.from({ length: K }, () => randomBytes(32)); // s_lj at j; those of slots up to l are never used
    const edges = this.seeds.slice(1).map((seed, k) => ({
      commitment: derived.commitment(seed),
      sealed: this.engine.sealEdge(seed, k + 1, derived.sealedContext(ctx, derived.EDGE, g, k + 1)),
    }));
    const D = derived.merkleRoot(edges.map((edge, k) => derived.leaf(k + 1, edge)));
    const signature = this.sign(layouts.depositStatement.words({ ctx, g, D }));
    const body = layouts
      .deposit(K, this.engine.sealedBytes)
      .encode({ certificate: this.certificate, ctx, nonce, D, edges, signature });
    const answer = await patiently(() => this.server.ask('POST', `${path}/deposits`, { device: this, body }));

    const { ticket, inbox } = layouts.depositAnswer(this.engine.sealedBytes).decode(answer);
    must(isSigned(server, ticket.words, ticket.signature), 'a ticket that the server did not sign');
    must(ticket.ctx.equals(ctx) && ticket.g.equals(g) && ticket.D.equals(D), 'a ticket of another deposit');
    must(ticket.slot < K && inbox.length === ticket.slot, 'not one entry for each earlier slot');
    for (const { siblings, ...edge } of inbox) {
      const root = derived.rootFrom(derived.leaf(ticket.slot, edge), ticket.slot - 1, K - 1, siblings);
      must(root?.equals(edge.D), 'a seed that its deposit does not hold');
    }
    must(derived.viewOver(ctx, inbox).equals(ticket.view), 'a view of another history');
    Object.assign(this, { ticket, inbox, nonce });
  }

  /** Asks each authority with a part for its key of this slot; the t receipts become one. */
  async takeKey() {
    const { ctx, path, parts } = this.buffer;
    const secret = randomBytes(32);
    const ephemeral = x25519Public(secret);
    const body = layouts.keyRequest.encode(
      { certificate: this.certificate, nonce: this.nonce, ticket: this.ticket, earlier: this.inbox, ephemeral },
      this.sign,
    );
    const request = sha256(body.subarray(0, -64));
    const asked = parts.map((part) => this.authorities[part.authority]);
    const answers = await this.#askAll(asked, async (authority) => {
      const index = this.authorities.indexOf(authority);
      const { envelope, receipt, issuedKey } = layouts.keyAnswer.decode(
        await authority.ask('POST', `${path}/keys`, { device: this, body }),
      );
      must(receipt.signatures.length === 1 && receipt.signatures[0].authority === index, 'a receipt of others');
      must(
        isSigned(authority.publicKey, receipt.words, receipt.signatures[0].signature),
        'a receipt that it did not sign',
      );
      must(receipt.words.subarray(3).equals(this.ticket.words.subarray(3, -8)), 'a receipt of another slot');
      must(
        isSigned(authority.publicKey, issuedKey.words, issuedKey.signature) && issuedKey.request.equals(request),
        'a key for another request',
      );
      const key = openEnvelope(envelope, secret, ephemeral, request);
      must(sha256(key).equals(issuedKey.keyHash), 'a key that it did not sign');
      return { index, receipt, key: this.engine.slotKey(key, index, this.ticket.slot) };
    });
    this.keys = new Map(answers.map(({ index, key }) => [index, key]));
    this.receipt = layouts.receipt.decode(
      joined(
        layouts.receipt,
        answers.map((one) => one.receipt),
        this.policy.authorities,
      ),
    );
    must(this.receipt.ctx.equals(ctx), 'a receipt of another buffer');
  }

  /** Opens the inbox, masks and seals: afterwards header and body never change. */
  freeze(update, contribution) {
    const { ctx, K, group: code } = this.buffer;
    const { slot, g, view } = this.ticket;
    const opened = this.inbox.map((edge) => {
      const seed = this.engine.openEdge(
        edge.sealed,
        slot,
        this.keys,
        derived.sealedContext(ctx, derived.EDGE, edge.g, slot),
      );
      return seed && derived.commitment(seed).equals(edge.commitment) ? seed : undefined;
    });
    const earlier = opened.flatMap((seed, i) => (seed ? [{ i, seed }] : []));
    const r = derived.registration(this.ticket);
    const b = randomBytes(32);
    const sealedB = this.engine.sealSelf(b, r, derived.sealedContext(ctx, derived.SELF, r, 0));
    const backups = earlier.map(({ i, seed }) =>
      this.engine.sealEdge(seed, i, derived.sealedContext(ctx, derived.BACKUP, g, i)),
    );

    const { w, vector } = vectorOf(update, contribution, this.buffer);
    const terms = [
      { sign: 1, seed: b },
      ...earlier.map(({ seed }) => ({ sign: -1, seed })),
      ...this.seeds.slice(slot + 1, K).map((seed) => ({ sign: 1, seed })),
    ];
    const group = groupOf(code);
    this.body = Buffer.concat([pack(masked(vector, terms, ctx, group), group.bits), sealedB, ...backups]);
    const voids = opened.flatMap((seed, i) => (seed ? [] : [i]));
    const selfName = this.engine.selfName(sealedB);
    const bodyHash = sha256(this.body);
    this.header = layouts.uploadHeader.encode(
      { ctx, slot, g, view, selfName, bodyHash, voids, receipt: this.receipt },
      this.sign,
    );
    this.contributed = { w, vector, voids };
  }

  /** In pieces of at most `pieceBytes`. */
  async upload(pieceBytes = 1 << 20) {
    const target = `${this.buffer.path}/slots/${this.ticket.slot}/upload`;
    let answer;
    for (let at = 0; at < this.body.length; at = answer.received) {
      const headers = { 'basa-upload': this.header.toString('hex'), 'upload-offset': String(at) };
      const body = this.body.subarray(at, at + pieceBytes);
      answer = await patiently(() => this.server.ask('PUT', target, { device: this, body, headers }));
      must(answer.received > at, 'an upload that does not go on');
    }
    must(answer.accepted, 'an upload that was not accepted');
  }

  /** Whether t authorities say that the buffer closed with this device's deposit in it. */
  async outcome() {
    const said = await this.#askAll(this.authorities, async (authority) => {
      const one = layouts.outcome.decode(await authority.ask('GET', `${this.buffer.path}/outcome`));
      must(
        one.ctx.equals(this.buffer.ctx) && isSigned(authority.publicKey, one.words, one.signature),
        'an outcome that it did not sign',
      );
      return one;
    });
    const agreed = agreeing(said, this.policy.authorities.t);
    if (!agreed) return { status: 'unknown' };
    const { slot, g } = this.ticket ?? {};
    return {
      status: layouts.OUTCOME[agreed.status],
      accepted: agreed.accepted.map((one) => one.slot),
      included: agreed.accepted.some((one) => one.slot === slot && one.g.equals(g)),
    };
  }
}

function openEnvelope(envelope, secret, ephemeral, request) {
  const sender = envelope.subarray(0, 32);
  const associated = Buffer.concat([Buffer.of(4, 1, 69), request, sender, ephemeral]);
  const key = hkdf(x25519(secret, sender), request, associated);
  const decipher = createDecipheriv('chacha20-poly1305', key, zeros(12), { authTagLength: 16 });
  decipher.setAAD(associated, { plaintextLength: envelope.length - 48 });
  decipher.setAuthTag(envelope.subarray(-16));
  return Buffer.concat([decipher.update(envelope.subarray(32, -16)), decipher.final()]);
}
