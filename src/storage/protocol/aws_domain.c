#include "storage/protocol/aws_domain.h"

#include <stddef.h>
#include <string.h>

static const struct partition {
    const char *prefix; /* of the names of its regions */
    const char *domain;
} partitions[] = {
    {"cn-", "amazonaws.com.cn"},   {"eusc-", "amazonaws.eu"},      {"us-iso-", "c2s.ic.gov"},
    {"us-isob-", "sc2s.sgov.gov"}, {"eu-isoe-", "cloud.adc-e.uk"}, {"us-isof-", "csp.hci.ic.gov"},
};

const char *aws_domain(const char *region) {
    for (size_t i = 0; i < sizeof partitions / sizeof *partitions; i++)
        if (!strncmp(region, partitions[i].prefix, strlen(partitions[i].prefix)))
            return partitions[i].domain;
    return "amazonaws.com";
}
