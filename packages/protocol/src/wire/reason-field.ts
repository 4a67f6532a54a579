/** A reason by its name, so that stored reasons survive changes of the table. */
import { checked, type Field, text } from './fields.ts';
import { isRefusalReason, type RefusalReason } from './refusals.ts';

export const reasonField: Field<RefusalReason> = checked(text<RefusalReason>(64), (name) =>
  isRefusalReason(name) ? undefined : 'no reason of the table',
);
