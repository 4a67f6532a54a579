/** The server's side of the model log of a federation: it has every entry signed by its authorities. */
import type { Signer } from '@basa/masking';
import {
  agreedOn,
  isRefused,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Refused,
  type ServerPorts,
  signStatement,
} from '@basa/protocol';
import { granted } from './granted.ts';
import type { World } from './world.ts';

export class FederationLog {
  readonly world: World;
  readonly ports: ServerPorts;
  /** On disk: the entries that enough authorities signed, by version. */
  readonly modelLog: ModelEntry[] = [];

  constructor(world: World, signer: Signer) {
    this.world = world;
    this.ports = { suite: world.environment.tools.suite, signer };
  }

  /** Returns the entry of a version; the newest one by default. */
  entry(version: number = this.modelLog.length - 1): ModelEntry {
    const entry = this.modelLog[version];
    if (entry === undefined) throw new Error(`no version ${version} is logged`);
    return entry;
  }

  /** Logs version 0. */
  begin(): void {
    const modelHash = this.ports.suite.sha256(this.modelBytes(0));
    this.logModel({ task: this.world.task, version: 0, modelHash, sums: [], spoilt: [], closed: [] });
  }

  /** The bytes that are logged as the model of a version: here only its number. */
  modelBytes(version: number): Uint8Array {
    return Uint8Array.of(version);
  }

  /** Has the entry signed by enough authorities and adds it to the log. */
  logModel(body: Omit<ModelAppend, 'signature'>): ModelEntry {
    return granted(this.tryLogModel(body));
  }

  /** Refused if no authority signs it. */
  tryLogModel(body: Omit<ModelAppend, 'signature'>): ModelEntry | Refused {
    const { policy, authorities, isAway } = this.world;
    const bytes = modelAppendCodec.encode(signStatement(modelAppendCodec, this.ports.signer, body));
    const present = authorities.filter((_, index) => !isAway(index));
    let no: Refused | undefined;
    const signed = present.flatMap((authority): readonly ModelEntry[] => {
      const answer = this.world.call('append', () => authority.appendModel(bytes));
      if (!isRefused(answer)) return [answer];
      no = answer;
      return [];
    });
    if (signed.length === 0 && no !== undefined) return no;
    const entry = agreedOn(modelEntryCodec, policy, signed);
    if (entry === undefined) throw new Error('too few authorities signed the model');
    const agreed = modelEntryCodec.encode(entry);
    if (policy.threshold > 1)
      for (const authority of present) this.world.call('adopt', () => authority.adoptModel(agreed));
    this.modelLog[entry.version] = entry;
    return entry;
  }
}
