/* The domain of Amazon's services in a region. Groups of regions ("partitions"), such as those in
 * China, have domains of their own. Source: the endpoints of botocore 1.x (endpoints.json). Pure.
 */
#ifndef RECMAP_STORAGE_PROTOCOL_AWS_DOMAIN_H
#define RECMAP_STORAGE_PROTOCOL_AWS_DOMAIN_H

/* As "amazonaws.com", also for a region that is not known. */
const char *aws_domain(const char *region);

#endif
