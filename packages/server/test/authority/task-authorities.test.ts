/** The authorities of a task: their policy is that of the task, even if one of them has another one. */
import { type TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { checkPolicy } from '../../src/authority/authorities.ts';
import type { AuthorityLink } from '../../src/authority/authority-link.ts';
import { bytes, policy as ofTests } from '../support/store-samples.ts';

const signers = [0, 1, 2, 3].map((n) => createNodeSigner(bytes(60 + n)));
const policy: TaskPolicy = { ...ofTests, authorities: signers.map(({ publicKey }) => publicKey), threshold: 3 };

it('does not go on with the policy of another task if too few authorities know its own', async () => {
  const told = signers.map(() => policy);
  const links = signers.map(({ publicKey }, n) => ({ publicKey, policy: async () => told[n] }));
  const task = taskIdOf(nodeSuite, policy);
  const check = () => checkPolicy(links as unknown as readonly AuthorityLink[], nodeSuite, task, policy);
  told[0] = { ...policy, minimum: 4 };
  await check();
  told[1] = { ...policy, minimum: 4 };
  await expect(check()).rejects.toThrow('the policy of another task');
});
