/** A server step that no age damps: a sum of one-hot updates then shows how often each counted. */
import type { ServerStepOptions } from '@basa/learning';

export const WHOLE_STEP: ServerStepOptions = { kind: 'fedbuff', rate: 1, damping: 'none' };
