/** Keeps the buffers of slots: the content of a deposit is stored in the transaction of its slot. */
import {
  type BufferRecord,
  type Deposit,
  type Descriptor,
  evolveSecureBuffer,
  openSecureBuffer,
  outboxOf,
  type SecureBuffer,
  type ServerPorts,
  type Ticket,
  userIdOf,
} from '@basa/protocol';
import type { BufferChange, StoredBuffer } from '../store/buffers.ts';
import { messagesOf } from './messages.ts';
import { type KeeperOptions, SumKeeper } from './sum-keeper.ts';

export class BufferKeeper extends SumKeeper<SecureBuffer, BufferRecord> {
  constructor(options: KeeperOptions<SecureBuffer>) {
    const { store, ports } = options;
    super(options, {
      async begin(ctx) {
        const stored = await store.buffer(ctx);
        return stored && openSecureBuffer(ports.suite, stored);
      },
      async living() {
        const living = await store.livingBuffers();
        return living.map(({ number, ...stored }) => ({ sum: openSecureBuffer(ports.suite, stored), number }));
      },
      evolve: evolveSecureBuffer,
      changeOf: (state, records) => changeOf(ports, state, records),
    });
  }

  async add(drawn: Omit<StoredBuffer, 'ctx'>, nonce?: Uint8Array): Promise<SecureBuffer> {
    const buffer = openSecureBuffer(this.options.ports.suite, drawn);
    await this.options.store.addBuffer({ ...drawn, ctx: buffer.ctx }, nonce);
    return this.begun(buffer);
  }
}

function changeOf(ports: ServerPorts, state: SecureBuffer, records: readonly BufferRecord[]): BufferChange {
  const change: BufferChange = { facts: records, status: state.status };
  const deposited = records.find((entry) => entry.kind === 'deposited');
  if (deposited?.kind !== 'deposited') return change;
  return { ...change, deposit: filed(ports, state.descriptor, deposited.slot.ticket, deposited.deposit) };
}

function filed(
  { suite }: ServerPorts,
  descriptor: Descriptor,
  ticket: Ticket,
  deposit: Deposit,
): NonNullable<BufferChange['deposit']> {
  const codecs = messagesOf(descriptor);
  const outbox = outboxOf(suite, deposit, ticket).map((entry) => codecs.inboxEntry.encode(entry));
  const user = userIdOf(suite, deposit.certificate.deviceKey);
  const { slot, deadline: until } = ticket;
  return { slot, task: descriptor.task, user, until, bytes: codecs.deposit.encode(deposit), outbox };
}
