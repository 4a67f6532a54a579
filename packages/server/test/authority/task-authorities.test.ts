/** The authorities of a task: their policy is that of the task, even if one of them has another one. */
import { type TaskPolicy, taskIdOf } from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { TaskAuthorities } from '../../src/authority/authorities.ts';
import type { AuthorityLink } from '../../src/authority/authority-link.ts';
import { bytes, policy as ofTests } from '../support/store-samples.ts';

const signers = [0, 1, 2, 3].map((n) => createNodeSigner(bytes(60 + n)));
const policy: TaskPolicy = { ...ofTests, authorities: signers.map(({ publicKey }) => publicKey), threshold: 3 };

it('does not go on with the policy of another task if too few authorities know its own', async () => {
  const told = signers.map(() => policy);
  const links = told.map((_, n) => ({ policy: async () => told[n] })) as unknown as readonly AuthorityLink[];
  const ports = { suite: nodeSuite, signer: createNodeSigner(bytes(59)) };
  const task = taskIdOf(nodeSuite, policy);
  const authorities = new TaskAuthorities({ task, policy, ports, links, graceMs: 0, clock: () => 0 });
  told[0] = { ...policy, minimum: 4 };
  await authorities.checkPolicy();
  told[1] = { ...policy, minimum: 4 };
  await expect(authorities.checkPolicy()).rejects.toThrow('the policy of another task');
});
