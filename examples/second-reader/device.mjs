// A device of a task: what it pins, its certificate, the newest model and outcomes, each with the checks of docs/conformance.md.
import { randomBytes } from 'node:crypto';
import { must, sha256 } from './bytes.mjs';
import { patiently } from './http.mjs';
import { isSigned, signingKey } from './keys.mjs';
import * as layouts from './layouts.mjs';
import { agreeing, checkPolicy, countsWith, joined } from './statements.mjs';

export class Device {
  /**
   * `kept` is all that a device must not lose, as plain data; `keep` makes it durable and is called before anything that depends on it leaves.
   * @param {{ server: import('./http.mjs').Service, authorities: import('./http.mjs').Service[], task: Buffer }} pinned
   */
  constructor({ server, authorities, task }, kept = {}, keep = () => {}) {
    Object.assign(this, { server, authorities, task, kept, keep });
    kept.secret ??= randomBytes(32);
    kept.seen ??= { version: -1 };
    kept.entered ??= [];
    kept.participations ??= 0;
    kept.heads ??= authorities.map(() => undefined);
    Object.assign(this, signingKey(kept.secret));
    this.user = sha256(this.publicKey);
    this.path = `/v1/tasks/${task.toString('hex')}`;
    for (const [a, authority] of authorities.entries()) {
      authority.head = kept.heads[a] && layouts.head.decode(kept.heads[a]);
      authority.onHead = (head) => {
        kept.heads[a] = head.bytes;
        keep();
      };
    }
    keep();
  }

  /** Asks all of these authorities at once; the first t good answers count, one that does not hold is as good as none. */
  async askAll(authorities, question) {
    const { t } = this.policy.authorities;
    const enough = new AbortController();
    const good = [];
    const failures = [];
    await new Promise((resolve) => {
      for (const authority of authorities) {
        patiently(() => question(authority), enough.signal)
          .then(
            (answer) => good.push(answer),
            (failure) => failures.push(failure),
          )
          .then(() => (good.length >= t || good.length + failures.length === authorities.length) && resolve());
      }
    });
    enough.abort();
    if (good.length < t) throw failures[0];
    return good;
  }

  async connect() {
    const encoded = await Promise.any(
      this.authorities.map(async (authority) => {
        const { publicKey } = await patiently(() => authority.ask('GET', '/v1/authority'));
        must(publicKey === authority.publicKey.toString('hex'), 'an authority with another key');
        const policy = await patiently(() => authority.ask('GET', `${this.path}/policy`));
        must(sha256(policy).equals(this.task), 'a policy that is not the task');
        return policy;
      }),
    );
    this.policy = layouts.policy.decode(encoded);
    checkPolicy(this.policy, this.authorities);
    const { publicKey } = await patiently(() => this.server.ask('GET', '/v1/server'));
    must(publicKey === this.policy.server.toString('hex'), 'a server that the policy does not name');
    this.server.publicKey = this.policy.server;
  }

  /** One authority after the other: the first says from when to when, the others are asked for the same. */
  async enrol(token) {
    const { certificate } = this.kept;
    if (certificate) {
      this.certificate = layouts.certificate.decode(certificate);
      const { issuedAt, notAfter } = this.certificate;
      if (Date.now() < notAfter - (notAfter - issuedAt) / 3) return;
    }
    const given = [];
    let like;
    for (const authority of this.authorities) {
      try {
        const json = { ...(!certificate && { token }), like };
        const one = layouts.certificate.decode(
          await patiently(() => authority.ask('POST', `${this.path}/enrolments`, { device: this, json })),
        );
        must(
          isSigned(authority.publicKey, one.words, one.signatures[0]?.signature),
          'a certificate that it did not sign',
        );
        must(one.task.equals(this.task) && one.deviceKey.equals(this.publicKey), 'a certificate of something else');
        like ??= { issuedAt: one.issuedAt, notAfter: one.notAfter };
        given.push(one);
      } catch (error) {
        if (this.authorities.length === 1) throw error;
      }
    }
    this.certificate = layouts.certificate.decode(joined(layouts.certificate, given, this.policy.authorities));
    must(this.certificate.notAfter > Date.now(), 'a certificate that has ended');
    this.kept.certificate = this.certificate.bytes;
    this.keep();
  }

  /** One hash for a version, and the newest is remembered; a buffer may be older than it. */
  sawVersion({ version, model }) {
    const { seen } = this.kept;
    must(version !== seen.version || model.equals(seen.model), 'two models of one version');
    if (version <= seen.version) return;
    this.kept.seen = { version, model };
    this.keep();
  }

  /** The newest model by the word of t authorities, and its bytes by the server's. */
  async newest() {
    const nonce = randomBytes(16);
    const answers = await this.askAll(this.authorities, async (authority) => {
      const before = authority.head;
      const said = layouts.newestModel.decode(
        await authority.ask('GET', `${this.path}/model-log/newest/${nonce.toString('hex')}`),
      );
      must(
        isSigned(authority.publicKey, said.words, said.signature) && said.nonce.equals(nonce),
        'not an answer to this',
      );
      must(!before?.branch.equals(said.branch) || said.sequence >= before.sequence, 'a log that went back');
      must(said.entry.task.equals(this.task), 'an entry of another task');
      must(countsWith(said.entry, this.policy.authorities), 'an entry that does not count');
      return said.entry;
    });
    const entry = answers.reduce((one, other) => (other.version > one.version ? other : one));
    must(entry.version >= this.kept.seen.version, 'a version behind one that was seen');
    this.sawVersion(entry);
    const parameters = await patiently(() => this.server.ask('GET', `${this.path}/models/${entry.version}`));
    must(sha256(parameters).equals(entry.model), 'a model that is not in the log');
    return { entry, parameters };
  }

  /** What became of a buffer, in the words of t authorities: its status and the slots in its sum. */
  async outcome(ctx) {
    const said = await this.askAll(this.authorities, async (authority) => {
      const one = layouts.outcome.decode(await authority.ask('GET', `/v1/buffers/${ctx.toString('hex')}/outcome`));
      must(
        one.ctx.equals(ctx) && isSigned(authority.publicKey, one.words, one.signature),
        'an outcome that it did not sign',
      );
      return one;
    });
    const agreed = agreeing(said, this.policy.authorities.t);
    return agreed ? { ...agreed, status: layouts.OUTCOME[agreed.status] } : { status: 'unknown', accepted: [] };
  }
}
