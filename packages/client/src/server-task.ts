/** What a server tells of a task besides the policy: hints, unsigned, that a client may follow. */

/** How the operator would have clients train. */
interface TrainingHint {
  readonly epochs?: number;
  readonly batchSize?: number;
  readonly learningRate?: number;
}

export interface ServerTask {
  readonly mode: string;
  readonly state: string;
  readonly training: TrainingHint;
}

export function serverTaskOf(json: Readonly<Record<string, unknown>>): ServerTask {
  const { mode, state, training } = json;
  return {
    mode: typeof mode === 'string' ? mode : 'sealed',
    state: typeof state === 'string' ? state : 'running',
    training: trainingOf(typeof training === 'object' && training !== null ? { ...training } : {}),
  };
}

function trainingOf({ epochs, batch, rate }: { epochs?: unknown; batch?: unknown; rate?: unknown }): TrainingHint {
  const positive = (value: unknown): value is number => typeof value === 'number' && value > 0;
  return {
    ...(positive(epochs) && { epochs }),
    ...(positive(batch) && { batchSize: batch }),
    ...(positive(rate) && { learningRate: rate }),
  };
}
