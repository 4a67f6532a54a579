/** The rules of the protocol's last table of attacks (docs/threat-model.md, "Purpose of each check"). */
import { type Edit, keyHashNotCompared, type Mutant } from './mutant.ts';

/** The self key depends only on the slot, not on the user in it. */
const selfOfTheSlot: Edit = {
  file: 'wire/naming.ts',
  find: 'return registrationLayout.hash(suite, { ctx, slot, joinTag, root, view }) as Registration;',
  replace: `const nothing = new Uint8Array(32) as never;
  return registrationLayout.hash(suite, { ctx, slot, joinTag: nothing, root: nothing, view: nothing }) as Registration;`,
};

export const MUTANTS_OF_THE_PROTOCOL: readonly Mutant[] = [
  {
    name: 'the header lacks V_l, and the request is signed again after a restart',
    edits: [
      {
        file: 'user/device.ts',
        find: '.filter(isSessionRecord)',
        replace:
          ".filter(isSessionRecord).slice(0, device === NEW_DEVICE && records.at(-1)?.kind === 'slotted' ? -1 : undefined)",
      },
      {
        file: 'authority/issue-key.ts',
        find: "if (registered !== undefined && buffer.status !== 'unknown' && equalBytes(registered.requestDigest, requestDigest)) {",
        replace:
          'if (registered !== undefined && equalBytes(registered.user, user)) {\n    return unchanged(buffer, answerOf(ports, buffer, request, { ...registered, requestDigest, view: request.ticket.view }));',
      },
      { file: 'authority/close.ts', find: 'equalBytes(header.view, view) &&', replace: '' },
      {
        file: 'wire/naming.ts',
        find: 'return registrationLayout.hash(suite, { ctx, slot, joinTag, root, view }) as Registration;',
        replace:
          'return registrationLayout.hash(suite, { ctx, slot, joinTag, root, view: view.map(() => 0) as View }) as Registration;',
      },
    ],
    caughtBy: 'the key answer is withheld, and after a restart another inbox is told',
  },
  {
    name: 'a second upload differs from the first',
    edits: [
      keyHashNotCompared,
      {
        file: 'user/device.ts',
        find: '.filter(isSessionRecord)',
        replace: ".filter(isSessionRecord).filter(({ kind }) => device !== NEW_DEVICE || kind !== 'frozen')",
      },
    ],
    caughtBy: 'a key that opens nothing first, the true one after a restart',
  },
  {
    name: 'the ticket is not compared with the deposit of the device',
    edits: [
      {
        file: 'user/slot.ts',
        find: ' && equalBytes(ticket.root, root);',
        replace: ';',
      },
      {
        file: 'authority/close.ts',
        find: 'isSigned(suite, depositStatementCodec, { ctx, joinTag, root, signature }, deviceKey) &&',
        replace: '',
      },
    ],
    caughtBy: "tickets over the server's own seeds",
  },
  {
    name: 'the signature of a header is not checked at the close',
    edits: [
      keyHashNotCompared,
      {
        file: 'authority/close.ts',
        find: ' &&\n    isSigned(suite, authorityMessages(buffer.descriptor.bufferSize).uploadHeader, header, deviceKey)',
        replace: '',
      },
    ],
    caughtBy: 'a key that opens nothing, and the void list is stripped at close',
  },
  {
    name: 'a rolled-back authority says "aborted" for a closed buffer',
    edits: [
      {
        file: 'authority/head.ts',
        find: 'return own === undefined || !equalBytes(own, seen.hash);',
        replace: 'return own !== undefined && !equalBytes(own, seen.hash);',
      },
    ],
    caughtBy: 'the authority is rolled back to before the close',
  },
  {
    name: 'an update is not marked in the ledger before its upload',
    edits: [
      {
        file: 'user/ledger.ts',
        find: "return isSame ? undefined : refused('delta-committed');",
        replace: 'return isSame ? undefined : undefined;',
      },
    ],
    caughtBy: 'one update goes into two buffers',
  },
  {
    name: 'the self key is bound to a tag that the user chooses',
    edits: [
      {
        file: 'wire/naming.ts',
        find: 'return registrationLayout.hash(suite, { ctx, slot, joinTag, root, view }) as Registration;',
        replace: 'return suite.sha256(ctx, joinTag) as Registration;',
      },
      {
        file: 'wire/naming.ts',
        find: 'return joinLayout.hash(suite, name) as JoinTag;',
        replace: 'return joinLayout.hash(suite, { ...name, user: new Uint8Array(32) as UserId }) as JoinTag;',
      },
      {
        file: 'authority/close.ts',
        find: '...repeats(listed.map(({ joinTag }) => joinTag))];',
        replace: '];',
      },
    ],
    caughtBy: "a colluder repeats a victim's nonce and signs for its self seed",
  },
  {
    name: 'the list of slot keys is not compared with its hash',
    engine: 'slot keys',
    edits: [{ file: 'user/seat.ts', find: 'if (problem !== undefined) return problem;', replace: '' }],
    caughtBy: 'the server gives a user a list of its own keys',
  },
  {
    name: 'an offer, and therefore the keys, are repeated',
    engine: 'slot keys',
    edits: [
      {
        file: 'wire/slot-sealing.ts',
        find: '    task,\n    offer,\n  });',
        replace: '    task,\n    offer: offer.map(() => 0),\n  });',
      },
    ],
    caughtBy: 'a colluder keeps its key for the next buffer',
  },
  {
    name: 'R is not recomputed',
    engine: 'slot keys',
    edits: [
      {
        file: 'packages/masking/src/slot-keys.ts',
        find: 'if (!equalBytes(publicKey, sealed.subarray(0, SLOT_KEY_BYTES))) return false;',
        replace: 'if (publicKey.length === 0) return false;',
      },
    ],
    caughtBy: 'a colluder garbles its own self seed',
  },
  {
    name: 'the self key is bound only to the slot',
    edits: [selfOfTheSlot],
    caughtBy: 'a slot is registered again after a roll-back that nobody saw',
  },
  {
    name: 'the self key is bound only to the slot, with slot keys',
    engine: 'slot keys',
    edits: [selfOfTheSlot],
    caughtBy: 'a slot is registered again after a roll-back that nobody saw',
  },
  {
    name: 'R is not in the signed header',
    engine: 'slot keys',
    edits: [
      {
        file: 'user/upload.ts',
        find: '.uploadHeader.statement(header) };',
        replace: '.uploadHeader.statement({ ...header, selfName: new Uint8Array() }) };',
      },
      {
        file: 'authority/close.ts',
        find: '.uploadHeader, header, deviceKey)',
        replace: '.uploadHeader, { ...header, selfName: new Uint8Array() }, deviceKey)',
      },
    ],
    caughtBy: 'the server asks for the pad of another self seed',
  },
  {
    name: 'the key of a slot is not compared with the list',
    engine: 'slot keys',
    edits: [
      keyHashNotCompared,
      {
        file: 'wire/slot-sealing.ts',
        find: 'if (equalBytes(key.publicKey, (parts[place] as SlotPart).publicKey)) made.set(secret, key);',
        replace: 'made.set(secret, key);',
      },
      { file: 'authority/close.ts', find: ' ?? voidProblem(request);', replace: ';' },
    ],
    caughtBy: 'a key that opens nothing, and everybody is accepted',
  },
  {
    name: 'a user makes two deposits',
    edits: [
      {
        file: 'authority/issue-key.ts',
        find: "return other === undefined ? undefined : refused('second-slot', { slots: [other.slot] });",
        replace: 'return undefined;',
      },
      {
        file: 'authority/close.ts',
        find: '...repeats(listed.map(({ user }) => user)), ',
        replace: '',
      },
    ],
    caughtBy: 'one colluder takes two slots',
  },
  {
    name: 'a buffer is closed again with another set',
    edits: [
      {
        file: 'authority/close.ts',
        find: "if (buffer.status === 'closed') return unchanged(buffer, { buffer });",
        replace: '',
      },
      {
        file: 'authority/close.ts',
        find: "if (buffer.status !== 'open') return refuse(refused('buffer-over'));",
        replace: "if (buffer.status !== 'open' && buffer.status !== 'closed') return refuse(refused('buffer-over'));",
      },
    ],
    caughtBy: 'closed twice with different sets',
  },
  {
    name: 'both keys of one slot are released',
    edits: [
      {
        file: 'authority/close.ts',
        find: `      if (key !== undefined && !withheld.has(slot))
        keys.push({ slot, role: entry === undefined ? 'edge' : 'self', key });
    }
  }
  const vote = endorse(voteCodec, descriptor, ports.signer, { task: descriptor.task, ctx, closing });
  const body = { vote, outcome: signOutcome(ports, ctx, buffer), keys };`,
        replace: `      keys.push({ slot, role: 'edge', key: own.keys.edge(slot) });
      if (entry !== undefined && key !== undefined) keys.push({ slot, role: 'self', key });
    }
  }
  const vote = endorse(voteCodec, descriptor, ports.signer, { task: descriptor.task, ctx, closing });
  if (keys.length > 0) return { vote, outcome: signOutcome(ports, ctx, buffer), keys, signature: new Uint8Array(64) };
  const body = { vote, outcome: signOutcome(ports, ctx, buffer), keys };`,
      },
    ],
    caughtBy: 'everybody is accepted',
  },
];
