/** UNSAFE: the CP-ABE master keys of `paper` mode, one for each task and as long as the task; the vault seals each one for its task. */
import {
  abeIssuer,
  createMclGroup,
  decodeMasterKey,
  encodeMasterKey,
  type Group,
  setup,
  wipeMasterKey,
} from '@basa/abe';
import { type AttributeKeyIssuer, type RandomBytes, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import type { AuthorityStore, StoredPaperKey } from '../store/store.ts';
import type { Vault } from '../store/vault.ts';

interface PaperKeyTools {
  readonly store: AuthorityStore;
  readonly vault: Vault;
  readonly randomBytes: RandomBytes;
}

export class PaperKeys {
  readonly #tools: PaperKeyTools;
  readonly #group: Group;
  readonly #issuers = new Map<string, ReturnType<typeof abeIssuer>>();

  private constructor(tools: PaperKeyTools, group: Group) {
    this.#tools = tools;
    this.#group = group;
  }

  /** Unlocks every stored key. */
  static async open(tools: PaperKeyTools): Promise<PaperKeys> {
    const keys = new PaperKeys(tools, await createMclGroup());
    for (const stored of await tools.store.transaction((tables) => tables.paperKeys())) keys.#unlock(stored);
    return keys;
  }

  /** Makes the master key of a task at the first request for it. The key is durable before this returns. */
  async issuerOf(task: TaskId): Promise<AttributeKeyIssuer> {
    const known = this.#issuers.get(toHex(task));
    if (known !== undefined) return known;
    const made = this.#make(task);
    // Two requests at once: the first key stays.
    return this.#unlock(await this.#tools.store.transaction((tables) => tables.addPaperKey(made)));
  }

  wipe(): void {
    for (const issuer of this.#issuers.values()) issuer.wipe();
    this.#issuers.clear();
  }

  #make(task: TaskId): StoredPaperKey {
    const { masterKey } = setup({ group: this.#group, randomBytes: this.#tools.randomBytes });
    const bytes = encodeMasterKey(masterKey, this.#group);
    const sealed = this.#tools.vault.seal(paperKeyName({ task }), bytes);
    wipeMasterKey(this.#group, masterKey);
    bytes.fill(0);
    return { task, sealed };
  }

  #unlock(stored: StoredPaperKey): AttributeKeyIssuer {
    const known = this.#issuers.get(toHex(stored.task));
    if (known !== undefined) return known;
    const name = paperKeyName(stored);
    const bytes = this.#tools.vault.open(name, stored.sealed);
    if (bytes === undefined)
      throw new StartError('dataFolder', `the ${name} is damaged, and nothing was changed; restore the newest backup`);
    const issuer = abeIssuer(decodeMasterKey(bytes, this.#group), { group: this.#group, suite: nodeSuite });
    bytes.fill(0);
    this.#issuers.set(toHex(stored.task), issuer);
    return issuer;
  }
}

/** Binds a sealed master key to its task. */
export function paperKeyName({ task }: Pick<StoredPaperKey, 'task'>): string {
  return `master key of task ${toHex(task)}`;
}
