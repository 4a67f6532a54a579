/**
 * Traces, one for each batch: task > batch > step. Every party takes its trace id from the name of the batch, so that nodes and services
 * write to one trace without telling each other. Nothing is recorded unless the process has an OpenTelemetry SDK; nothing secret and no
 * device is in a span.
 *
 *     open --> steps --> close     what is closed ends with the last step that is under way in it
 */

import { toHex } from '@basa/masking';
import type { Ctx, TaskId } from '@basa/protocol';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ServiceError } from '../http/problems.ts';

/** The batch that a step belongs to. */
export interface StepOf {
  readonly ctx: Ctx;
  readonly attributes?: Attributes;
  /** Headers of the request: a parent of the same trace is taken from them. */
  readonly carrier?: object;
}

export interface TracedBatch {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly version: number;
}

/** A span that lasts over many steps. */
class Lasting {
  readonly context: Context;
  readonly #span: Span;
  #steps = 0;
  #isOver = false;

  constructor(name: string, attributes: Attributes, parent: Context, startTime = Date.now()) {
    this.#span = tracer.startSpan(name, { attributes, startTime }, parent);
    this.context = trace.setSpan(parent, this.#span);
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  enter(): void {
    this.#steps++;
  }

  leave(): void {
    this.#steps--;
    this.#endIfOver();
  }

  over(): void {
    this.#isOver = true;
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#isOver && this.#steps === 0 && this.#span.isRecording()) this.#span.end();
  }
}

interface Open {
  readonly task: Lasting;
  readonly batch: Lasting;
}

const tracer = trace.getTracer('basa');

export class BatchTraces {
  readonly #party: string;
  readonly #open = new Map<string, Open>();

  constructor(party: string) {
    this.#party = party;
  }

  /** The batch is open. A second call changes nothing. */
  open({ ctx, task, version }: TracedBatch): void {
    const name = toHex(ctx);
    if (this.#open.has(name)) return;
    const taskSpan = new Lasting('task', { ...this.#named(), 'basa.task': toHex(task) }, rootOf(ctx));
    if (!taskSpan.isRecorded) return;
    const attributes = { ...this.#named(), 'basa.ctx': name, 'basa.version': version };
    const batch = new Lasting('batch', attributes, taskSpan.context);
    this.#open.set(name, { task: taskSpan, batch });
  }

  close(ctx: Ctx): void {
    const name = toHex(ctx);
    const open = this.#open.get(name);
    if (open === undefined) return;
    this.#open.delete(name);
    for (const lasting of [open.batch, open.task]) lasting.over();
  }

  closeAll(): void {
    for (const { batch, task } of this.#open.values()) for (const lasting of [batch, task]) lasting.over();
    this.#open.clear();
  }

  /** Runs the work within its own span. */
  async step<Result>(name: string, of: StepOf, work: () => Promise<Result>): Promise<Result> {
    const { within, parent } = this.#parentOf(of);
    const span = tracer.startSpan(name, { attributes: this.#attributesOf(of) }, parent);
    for (const lasting of within) lasting.enter();
    try {
      return await context.with(trace.setSpan(parent, span), work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: reasonOf(error) });
      throw error;
    } finally {
      span.end();
      for (const lasting of within.reverse()) lasting.leave();
    }
  }

  #named(): Attributes {
    return { 'basa.party': this.#party };
  }

  #attributesOf({ ctx, attributes }: StepOf): Attributes {
    return { ...this.#named(), 'basa.ctx': toHex(ctx), ...attributes };
  }

  /**
   * If a batch is not open on this node, or is not sampled, it has no long-lived spans. Its steps are attached to the root of its trace.
   */
  #parentOf({ ctx, carrier }: StepOf): { readonly within: Lasting[]; readonly parent: Context } {
    const root = rootOf(ctx);
    const remote = carrier === undefined ? undefined : propagation.extract(ROOT_CONTEXT, carrier);
    const isSame = remote !== undefined && traceIdOf(remote) === traceIdOf(root);
    const open = this.#open.get(toHex(ctx));
    if (open === undefined || isSame) return { within: [], parent: isSame ? remote : root };
    return { within: [open.task, open.batch], parent: open.batch.context };
  }
}

/** Returns headers that make the work of another service a child of the step under way. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

/** The parent of all spans of a batch, which is never written: its ids are the first 24 bytes of the batch's name. */
function rootOf(ctx: Ctx): Context {
  const name = toHex(ctx);
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: name.slice(0, 32),
    spanId: name.slice(32, 48),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

function traceIdOf(where: Context): string | undefined {
  return trace.getSpanContext(where)?.traceId;
}

/** Returns the code of a refusal, or the name of an error; never its message. */
function reasonOf(error: unknown): string {
  if (error instanceof ServiceError) return error.document.type;
  return error instanceof Error ? error.name : 'error';
}
