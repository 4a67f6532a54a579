/** The models of the server of a federation: it signs a statement for each version. */
import type { Signer } from '@basa/masking';
import type { ServerRole } from '@basa/protocol/one-shot';
import { ModelStatement, modelNameOf, signStatement } from '@basa/protocol/wire';
import type { World } from './world.ts';

export class ServerModels {
  readonly world: World;
  readonly ports: ServerRole.ServerPorts;
  /** On disk: by version. */
  readonly statements: ModelStatement[] = [];

  constructor(world: World, signer: Signer) {
    this.world = world;
    this.ports = { suite: world.environment.tools.suite, signer };
  }

  get newest(): ModelStatement {
    return this.statement(this.statements.length - 1);
  }

  statement(version: number): ModelStatement {
    const statement = this.statements[version];
    if (statement === undefined) throw new Error(`there is no version ${version}`);
    return statement;
  }

  /** Undefined for a model that the server did not sign. */
  versionOf(model: Uint8Array): number | undefined {
    const { suite } = this.ports;
    return this.statements.find((one) => `${modelNameOf(suite, one)}` === `${model}`)?.version;
  }

  /** Makes the next version. The hash is that of its number: the models of a federation have no parameters. */
  add(): ModelStatement {
    const { task, now } = this.world;
    const version = this.statements.length;
    const serial = Math.max((this.statements.at(-1)?.serial ?? -1) + 1, Math.floor(now / 1000));
    const modelHash = this.ports.suite.sha256(Uint8Array.of(version));
    const statement = signStatement(ModelStatement, this.ports.signer, { task, version, serial, modelHash });
    this.statements.push(statement);
    return statement;
  }
}
