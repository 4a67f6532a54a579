/** Carries out a mask plan that is used once, and overwrites its seeds. */
import { applyMasksInPlace, type Keystream, type MaskPlan, type MaskTools } from '@basa/masking';

export function carryOut(vector: Uint32Array, plan: MaskPlan, masks: MaskTools<Keystream>): void {
  applyMasksInPlace(vector, plan, masks);
  for (const { seed } of plan.terms) seed.wipe();
}
