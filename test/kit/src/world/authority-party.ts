/** One authority of a world: the real service, which can crash, and come back from its own folder or from a backup. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Authority, type AuthorityOptions, createAuthority } from '@basa/authority';
import type { Signer } from '@basa/masking';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { OPERATORS } from './operator.ts';
import type { Wire } from './wire.ts';

export interface AuthorityPartyOptions {
  readonly wire: Wire;
  readonly folder: string;
  readonly clock: () => number;
  readonly more: Partial<AuthorityOptions>;
}

/** Nothing in a world is limited by the number of its requests: its clock stands still. */
export const NO_LIMITS = {
  addressLimit: { burst: 1e9, perSecond: 1e9 },
  deviceLimit: { burst: 1e9, perSecond: 1e9 },
  lateMs: () => 0,
} as const;
/** Worlds tick when a test says so. */
export const NEVER_MS = 2 ** 31 - 1;

export class AuthorityParty {
  readonly index: number;
  readonly host: string;
  readonly #options: AuthorityPartyOptions;
  readonly #home: string;
  #copies = 0;
  /** The lead of its own clock over the world's. */
  aheadMs = 0;
  service!: Authority;
  /** Its signing key, for those who collude with it. */
  signer!: Signer;
  /** Everything that it drew since its first start, for those who break one of its keys. */
  readonly drawn: Uint8Array[] = [];

  private constructor(index: number, options: AuthorityPartyOptions) {
    this.index = index;
    this.host = `authority-${index}`;
    this.#options = options;
    this.#home = join(options.folder, this.host);
  }

  static async start(index: number, options: AuthorityPartyOptions): Promise<AuthorityParty> {
    const party = new AuthorityParty(index, options);
    mkdirSync(party.#home, { recursive: true });
    writeFileSync(party.keyFile, nodeRandomBytes(32), { mode: 0o600 });
    await party.#open();
    const isIts = (seed: Uint8Array): boolean =>
      seed.length === 32 && Buffer.compare(createNodeSigner(seed).publicKey, party.publicKey) === 0;
    party.signer = createNodeSigner(party.drawn.find(isIts) as Uint8Array);
    return party;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  get publicKey(): Uint8Array {
    return this.service.publicKey;
  }

  get dataFolder(): string {
    return join(this.#home, 'data');
  }

  /** The folder of its units. */
  get units(): string {
    return join(this.dataFolder, 'units');
  }

  get keyFile(): string {
    return join(this.#home, 'key');
  }

  /** Its process ends, and starts again from the same folder, with these options if there are any. */
  async restart(between: () => unknown = () => {}, more: Partial<AuthorityOptions> = {}): Promise<void> {
    this.#options.wire.put(this.host, undefined);
    await this.service.close();
    await between();
    await this.#open(more);
  }

  /** A copy of its folder as it is now, as of a disk whose power is cut, and the way back to it. */
  copied(): () => Promise<void> {
    const copy = join(this.#home, `copy-${this.#copies++}`);
    cpSync(this.dataFolder, copy, { recursive: true });
    return () =>
      this.restart(() => {
        rmSync(this.dataFolder, { recursive: true });
        cpSync(copy, this.dataFolder, { recursive: true });
      });
  }

  async close(): Promise<void> {
    await this.service.close();
  }

  async #open(other: Partial<AuthorityOptions> = {}): Promise<void> {
    const { clock, more, wire } = this.#options;
    this.service = await createAuthority({
      dataFolder: this.dataFolder,
      secret: { keyFile: this.keyFile },
      operators: OPERATORS,
      keyLimit: NO_LIMITS.deviceLimit,
      workers: 0,
      tickMs: NEVER_MS,
      clock: () => clock() + this.aheadMs,
      randomBytes: (length) => {
        const bytes = nodeRandomBytes(length);
        this.drawn.push(bytes.slice());
        return bytes;
      },
      ...NO_LIMITS,
      ...more,
      ...other,
    });
    wire.put(this.host, this.service.app);
  }
}
