/** How far we are with a server: until it is connected, nothing was asked of it, so nothing can have happened. */
export type Phase = 'connect' | 'request'
