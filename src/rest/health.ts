/** Health over REST. */
import { type Health, health } from '../contract/health.ts'
import { type Route, route } from './route.ts'

export const healthRoute = (read: () => Promise<Health>): Route =>
  route({
    ...{ method: 'GET', path: '/health', scope: 'public', tag: 'Service', name: 'getHealth' },
    summary: 'Tell how the service is doing',
    status: 200,
    answers: health,
    errors: [],
    handle: async () => ({ data: await read() }),
  })
