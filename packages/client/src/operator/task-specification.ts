/** A task in the form that a server accepts (docs/http.md). */
import type { ModelJson, ServerStepOptions } from '@basa/learning';
import type { Scores } from '@basa/protocol/http';

export interface TaskSpecification {
  /** In hexadecimal, as the authorities know it. */
  readonly policy: string;
  /** `paper` is the paper's protocol, which hides less; both services must allow it. */
  readonly mode?: 'one-shot' | 'paper';
  /** A server evaluates only networks that it can build. */
  readonly model?: ModelJson;
  /** The first parameters: drawn with a seed, or given in hexadecimal. */
  readonly initial?: { readonly seed?: number; readonly parameters?: string };
  readonly serverStep?: ServerStepOptions;
  /** The divisor of a sum of updates. */
  readonly divideBy?: 'count' | 'weights';
  /** A target score that pages show; it does not end the task. */
  readonly target?: number;
  /** Ends the task at a score of a version, at a version, or after a time. */
  readonly stop?: Scores & { readonly version?: number; readonly afterMs?: number };
  /** A batch with enough updates is closed when no update came for this long. */
  readonly stallMs?: number;
  /** Everybody may read the models and results of the task: by default only its devices and tokens of the server. */
  readonly publicModels?: boolean;
  /** The number of devices that train at a time, or gave an update that is in no version yet; three times the updates of a step by default. */
  readonly places?: number;
}
