/** A device asks for a place to train, or gives it back. */
import { equalBytes } from '@basa/masking';
import { certificateCodec, certificateProblem, SERVER_PATH } from '@basa/protocol';
import { answers, bytesOf, deviceOf, fail, granted, rememberRequest, Type, wireBytes } from '@basa/service';
import { foundTask, type RouteContext, taskParams } from './context.ts';
import { modelWithPlace } from './models.ts';

export function mountAdmissions(context: RouteContext): void {
  const { service, ports } = context;
  const { app } = service;
  const onRequest = service.requireDevice();

  const admissionSchema = {
    summary: 'A place to train, which a device requests before it downloads the model (device)',
    params: taskParams,
    body: wireBytes('certificate'),
    response: answers(
      Type.Object({
        endsInMs: Type.Integer(),
        model: Type.Optional(Type.String({ description: 'the newest model (shownModel), in hexadecimal digits' })),
      }),
    ),
  };
  app.post(
    SERVER_PATH.admissions(':task'),
    { onRequest, schema: admissionSchema, config: { begins: true } },
    async (request) => {
      const task = await foundTask(context, request.params.task);
      const { user, deviceKey } = deviceOf(request);
      const certificate = certificateCodec.decode(bytesOf(request));
      if (!equalBytes(certificate.deviceKey, deviceKey)) fail('not-yours');
      const problem = certificateProblem(ports, task.enrolledFor, certificate);
      if (problem !== undefined) granted(problem);
      // Only devices of the task count: others could use up its share with keys that cost nothing.
      const wait = context.taskLimits?.take(request.params.task, user, context.clock());
      if (wait !== undefined)
        fail('rate-limited', { ...wait, detail: 'the devices of this task ask for places too often' });
      await context.revocations.check(task.read.policy, user);
      rememberRequest(request);
      const { leftMs } = await task.admit(user);
      return { endsInMs: Math.floor(leftMs), ...(await modelWithPlace(task)) };
    },
  );

  const discardSchema = {
    summary: 'Gives back an unused place (device)',
    params: taskParams,
    response: answers(Type.Object({})),
  };
  app.delete(SERVER_PATH.admissions(':task'), { onRequest, schema: discardSchema }, async (request) => {
    const task = await foundTask(context, request.params.task);
    await task.admission.discard(deviceOf(request).user);
    return {};
  });
}
