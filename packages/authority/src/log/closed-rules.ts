/** The log's view of one buffer, and the rules that its close must follow. */
import { equalBytes, toHex } from '@basa/masking';
import { type BufferClosed, type Descriptor, isSelfName, type KeyIssued } from '@basa/protocol';

export interface AuditedBuffer {
  readonly descriptor: Descriptor;
  voted?: Uint8Array;
  state: 'open' | 'closed' | 'aborted' | 'unknown' | 'used';
  readonly slots: Map<number, KeyIssued>;
  readonly users: Set<string>;
}

export function closedProblems(buffer: AuditedBuffer, { accepted, withheld }: BufferClosed): readonly string[] {
  const wasOpen = buffer.state === 'open';
  buffer.state = 'closed';
  // With several authorities a slot may be registered at others: this one's record may then be missing, but is never
  // contradicted.
  const isAlone = buffer.descriptor.threshold === 1;
  const strangers = accepted.filter(({ slot, joinTag }) => {
    const issued = buffer.slots.get(slot);
    return issued === undefined ? isAlone : !equalBytes(issued.joinTag, joinTag) && !withheld.includes(slot);
  });
  const slots = accepted.map(({ slot }) => slot);
  const tags = accepted.map(({ joinTag }) => toHex(joinTag));
  const nameless = accepted.filter(({ selfName }) => !isSelfName(buffer.descriptor, selfName));
  const isOnce = new Set(slots).size === slots.length && new Set(tags).size === tags.length;
  return [
    ...(wasOpen ? [] : ['the buffer was not open']),
    ...(accepted.length >= buffer.descriptor.minimum ? [] : ['fewer accepted slots than the minimum']),
    ...strangers.map(({ slot }) => `slot ${slot} is accepted, but its key was issued to another or nobody`),
    ...(isOnce ? [] : ['it contains a slot or a join tag twice']),
    ...nameless.map(({ slot }) => `slot ${slot} is accepted without a self seed that could be opened`),
  ];
}
