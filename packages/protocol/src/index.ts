/** What every party says: names, refusals, and events. The entries policy, wire, one-shot, paper and http have the rest. */
export { type Ctx, type JoinTag, type Millis, millis, type Position, type TaskId, type UserId } from './wire/fields.ts';
export {
  type BasaEvent,
  granted,
  isRefusalReason,
  isRefused,
  REFUSALS,
  type RefusalReason,
  type Refused,
  refused,
} from './wire/refusals.ts';
