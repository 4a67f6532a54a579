/** Everything a server answers (docs/http.md). */
import { mountAbout } from './about.ts';
import type { RouteContext } from './context.ts';
import { mountModels } from './models.ts';
import { mountUnsafePaper } from './paper.ts';
import { mountParticipation } from './participation.ts';
import { mountTasks } from './tasks.ts';
import { mountUploads } from './uploads.ts';

export function mountRoutes(context: RouteContext): void {
  mountAbout(context);
  mountTasks(context);
  mountModels(context);
  mountParticipation(context);
  mountUploads(context);
  mountUnsafePaper(context);
}
