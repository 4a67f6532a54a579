/** The steps of batches: each is durable, and then told to logs, traces, other nodes and pages. */
import type { Ctx, Refused } from '@basa/protocol';
import type { ServerRole, Sums } from '@basa/protocol/one-shot';
import type { Batch } from '@basa/protocol/wire';
import type { Nodes } from '../nodes/nodes.ts';
import type { BatchChange } from '../store/batches.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { OnEvent, ServerWatch } from '../watch/server-watch.ts';

export interface BatchTools {
  readonly store: Store;
  readonly ports: ServerRole.ServerPorts;
  readonly nodes: Pick<Nodes, 'tell'>;
  readonly watch: ServerWatch;
  readonly onEvent: OnEvent;
  /** Called when a batch has changed at this node. */
  onChange(): void;
}

export class Batches {
  readonly #tools: BatchTools;

  constructor(tools: BatchTools) {
    this.#tools = tools;
  }

  /** Undefined if one of its uploads no longer exists, or is in another batch. */
  async add(batch: Batch, fence: Fence | undefined): Promise<Sums.ShotBatch | undefined> {
    const { store, ports, onEvent } = this.#tools;
    const added = await store.addBatch(ports.suite, batch, fence);
    if (added === undefined) return undefined;
    onEvent({ kind: 'batch-frozen', ctx: added.ctx, accepted: added.users.length }, aboutOf(added));
    this.#changed(added);
    return added;
  }

  /** Undefined if it is not in the store. */
  async find(ctx: Ctx): Promise<Sums.ShotBatch | undefined> {
    const batch = await this.#tools.store.batch(ctx);
    if (batch !== undefined) this.#tools.watch.trace(batch);
    return batch;
  }

  /** Takes one step. Its answer is durable. */
  async step<Answer>(
    ctx: Ctx,
    work: (batch: Sums.ShotBatch) => Sums.SumStep<Sums.ShotBatch, Answer>,
    change: BatchChange = {},
  ): Promise<Answer | Refused> {
    const { store, onEvent } = this.#tools;
    const taken = await store.advance(ctx, work, change);
    if (taken === undefined) return { kind: 'refused', reason: 'batch-unknown' };
    for (const event of taken.events) onEvent(event, aboutOf(taken.state));
    if (taken.records.length > 0) this.#changed(taken.state);
    return taken.answer;
  }

  #changed(batch: Sums.ShotBatch): void {
    const { watch, nodes, onChange } = this.#tools;
    watch.trace(batch);
    nodes.tell('batch', batch.task);
    onChange();
  }
}

function aboutOf({ task, rules }: Sums.ShotBatch): Parameters<OnEvent>[1] {
  return { task, version: rules.version };
}
